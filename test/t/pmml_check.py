"""PMML documents against the rules of version 4.4 for the elements that margin writes, from the schema of dmg.org: which
children, in which order and how many, which attributes with which values. Arguments: files; prints what is wrong. With
MARGIN_PMML_XSD, the path of that schema, xmllint validates them as well."""
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

NAMESPACE = '{http://www.dmg.org/PMML-4_4}'
ANY, NUMBER, COUNT = r'(?s).*', r'-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?', r'[0-9]+'
FIELD = {'name!': ANY, 'optype!': 'continuous|categorical|ordinal', 'dataType!': 'string|double|boolean|date|dateTime|time'}
EXPRESSION = '(Apply |FieldRef |Constant |Discretize )'
# Element: (children as a pattern over their names, attributes; ! marks those that must be there).
RULES = {
    'PMML': ('Header DataDictionary RegressionModel ', {'version!': r'4\.4'}),
    'Header': ('(Application )?', {}),
    'Application': ('', {'name!': ANY, 'version': ANY}),
    'DataDictionary': ('(DataField )+', {'numberOfFields': COUNT}),
    'DataField': ('(Value )*', dict(FIELD, displayName=ANY)),
    'Value': ('', {'value!': ANY}),
    'RegressionModel': ('MiningSchema (Output )?(LocalTransformations )?(RegressionTable )+',
                        {'functionName!': 'regression|classification', 'normalizationMethod': 'none|softmax|exp'}),
    'MiningSchema': ('(MiningField )+', {'name': ANY}),
    'MiningField': ('', {'name!': ANY, 'usageType': 'active|target', 'missingValueReplacement': NUMBER, 'missingValueTreatment': 'asMean|asValue|returnInvalid',
                         'invalidValueTreatment': 'returnInvalid|asIs'}),
    'LocalTransformations': ('(DerivedField )+', {}),
    'DerivedField': (EXPRESSION, FIELD),
    'Apply': (EXPRESSION + '+', {'function!': 'if|isMissing|/|dateDaysSinceYear|dateSecondsSinceYear|dateSecondsSinceMidnight'}),
    'FieldRef': ('', {'field!': ANY}),
    'Constant': ('', {'dataType': 'double|integer'}),
    'Discretize': ('(DiscretizeBin )+', {'field!': ANY, 'mapMissingTo': ANY}),
    'DiscretizeBin': ('Interval ', {'binValue!': ANY}),
    'Interval': ('', {'closure!': 'openClosed|openOpen', 'leftMargin': NUMBER, 'rightMargin': NUMBER}),
    'Output': ('(OutputField )+', {}),
    'OutputField': ('', {'name!': ANY, 'optype': 'continuous', 'dataType!': 'double', 'feature': 'probability', 'value': ANY}),
    'RegressionTable': ('(NumericPredictor )*(CategoricalPredictor )*', {'intercept!': NUMBER, 'targetCategory': ANY}),
    'NumericPredictor': ('', {'name!': ANY, 'coefficient!': NUMBER}),
    'CategoricalPredictor': ('', {'name!': ANY, 'value!': ANY, 'coefficient!': NUMBER}),
}


def faults(element):
    """What is wrong with an element and those in it."""
    name = element.tag.replace(NAMESPACE, '')
    if not element.tag.startswith(NAMESPACE) or name not in RULES:
        yield 'element ' + element.tag
        return
    children, attributes = RULES[name]
    found = ''.join(child.tag.replace(NAMESPACE, '') + ' ' for child in element)
    if not re.fullmatch(children, found):
        yield name + ' has ' + found
    known = {key.rstrip('!'): value for key, value in attributes.items()}
    for key, value in element.attrib.items():
        if key not in known or not re.fullmatch(known[key], value):
            yield '%s has %s="%s"' % (name, key, value)
    for key in attributes:
        if key.endswith('!') and key[:-1] not in element.attrib:
            yield '%s has no %s' % (name, key[:-1])
    for child in element:
        yield from faults(child)


def relations(root):
    """What a schema does not say: names are those of fields, once each, values those of their field."""
    of = lambda name: root.iter(NAMESPACE + name)
    fields = {f.get('name'): f for f in of('DataField')}
    if len(fields) != int(root.find(NAMESPACE + 'DataDictionary').get('numberOfFields')):
        yield 'names of fields'
    if [f.get('name') for f in of('DataField')] != [f.get('name') for f in of('MiningField')]:
        yield 'fields of the dictionary and the model'
    known = dict(fields)
    for derived in of('DerivedField'):
        for name in [e.get('field') for e in derived.iter() if e.get('field') is not None]:
            if name not in known:
                yield 'derived of ' + name
        if derived.get('name') in known:
            yield 'two fields ' + derived.get('name')
        known[derived.get('name')] = derived
    for kind, optype in (('NumericPredictor', 'continuous'), ('CategoricalPredictor', 'categorical')):
        for p in of(kind):
            field = known.get(p.get('name'))
            if field is None or field.get('optype') != optype:
                yield kind + ' of ' + p.get('name')
            elif optype == 'categorical' and p.get('value') not in [v.get('value', v.get('binValue')) for v in field.iter()]:
                yield 'value ' + p.get('value')


schema = os.environ.get('MARGIN_PMML_XSD')
for path in sys.argv[1:]:
    root = tree.parse(path).getroot()
    wrong = list(faults(root))
    for fault in wrong or relations(root):
        print(os.path.basename(path) + ': ' + fault)
    if schema:
        run = subprocess.run(['xmllint', '--noout', '--schema', schema, path], stderr=subprocess.PIPE, text=True)
        if run.returncode != 0:
            print(run.stderr, end='')
