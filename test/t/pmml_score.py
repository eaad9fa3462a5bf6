"""Reads PMML 4.4 as a scoring engine does, from the text of the standard alone, and compares with expected answers.

pmml_score.py DOCUMENT ROWS: each line of ROWS is a JSON object: `row`, the values of its columns by name (null: missing; of
arrays a list, of sparse blocks an object of index: value), `scores`, one for each table or one for two classes (null: no
answer), and `answer`, the predicted value. Prints what differs, and on the last line how many rows had an answer and how many
had none."""
import datetime
import json
import math
import sys
import xml.etree.ElementTree as tree

NAMESPACE = '{http://www.dmg.org/PMML-4_4}'
EPOCH = datetime.datetime(1970, 1, 1)


class Invalid(Exception):
    """The result of the document is invalid."""


def number(text):
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def moment(text):
    """A date and time in UTC; PMML has no zones."""
    at = datetime.datetime.fromisoformat(text)
    return at if at.tzinfo is None else at.astimezone(datetime.timezone.utc).replace(tzinfo=None)


READERS = {
    'double': number,
    'boolean': lambda v: {True: 'true', False: 'false', 'true': 'true', 'false': 'false'}[v],
    'string': str,
    'date': lambda v: datetime.date.fromisoformat(v),
    'dateTime': moment,
    'time': lambda v: datetime.time.fromisoformat(v),
}


def whole_seconds(since):
    return math.floor(since.total_seconds())


def function(name, values):
    """Built-in functions but `if`, of values that may be None."""
    if name == 'isMissing':
        return values[0] is None
    if None in values:
        return None
    if name == '/':
        return values[0] / values[1]
    if name == 'dateDaysSinceYear':
        return (values[0] - datetime.date(int(values[1]), 1, 1)).days
    if name == 'dateSecondsSinceYear':
        return whole_seconds(values[0] - datetime.datetime(int(values[1]), 1, 1))
    if name == 'dateSecondsSinceMidnight':
        return values[0].hour * 3600 + values[0].minute * 60 + values[0].second
    raise ValueError('function ' + name)


class Document:
    def __init__(self, path):
        root = tree.parse(path).getroot()
        self.model = root.find(NAMESPACE + 'RegressionModel')
        self.fields = {f.get('name'): f for f in root.iter(NAMESPACE + 'DataField')}

    def children(self, element, name):
        return element.findall(NAMESPACE + name)

    def input(self, mining, given):
        """The value of an active field after its treatments, from what a row has under its name."""
        name = mining.get('name')
        field = self.fields[name]
        value = given.get(name)
        if value is not None:
            try:
                value = READERS[field.get('dataType')](value)
            except (ValueError, KeyError):
                raise Invalid(name)
            allowed = [v.get('value') for v in self.children(field, 'Value')]
            if allowed and value not in allowed:
                treatment = mining.get('invalidValueTreatment', 'returnInvalid')
                if treatment == 'returnInvalid':
                    raise Invalid(name)
                value = {'asIs': value, 'asMissing': None}[treatment]
        if value is None:
            if mining.get('missingValueTreatment') == 'returnInvalid':
                raise Invalid(name)
            replacement = mining.get('missingValueReplacement')
            if replacement is not None:
                value = READERS[field.get('dataType')](replacement)
        return value

    def value(self, expression, known):
        kind = expression.tag.replace(NAMESPACE, '')
        if kind == 'FieldRef':
            return known[expression.get('field')]
        if kind == 'Constant':
            return float(expression.text)
        if kind == 'Discretize':
            x = known[expression.get('field')]
            if x is None:
                return expression.get('mapMissingTo')
            for part in expression:
                interval = part[0]
                low, high = interval.get('leftMargin'), interval.get('rightMargin')
                closure = interval.get('closure')
                above = low is None or x > float(low) or (closure.startswith('closed') and x == float(low))
                below = high is None or x < float(high) or (closure.endswith('Closed') and x == float(high))
                if above and below:
                    return part.get('binValue')
            return expression.get('defaultValue')
        assert kind == 'Apply', kind
        if expression.get('function') == 'if':
            arguments = list(expression)
            if self.value(arguments[0], known):
                return self.value(arguments[1], known)
            return self.value(arguments[2], known) if len(arguments) > 2 else None
        return function(expression.get('function'), [self.value(a, known) for a in expression])

    def table(self, element, known):
        """None: a number that it needs is missing."""
        terms = [number(element.get('intercept'))]
        for p in self.children(element, 'NumericPredictor'):
            x = known[p.get('name')]
            if x is None:
                return None
            terms.append(number(p.get('coefficient')) * x)
        for p in self.children(element, 'CategoricalPredictor'):
            if known[p.get('name')] == p.get('value'):
                terms.append(number(p.get('coefficient')))
        return math.fsum(terms)

    def scores(self, given):
        known = {}
        for mining in self.children(self.model.find(NAMESPACE + 'MiningSchema'), 'MiningField'):
            if mining.get('usageType', 'active') == 'active':
                known[mining.get('name')] = self.input(mining, given)
        local = self.model.find(NAMESPACE + 'LocalTransformations')
        for derived in [] if local is None else local:
            known[derived.get('name')] = self.value(derived[0], known)
        tables = self.children(self.model, 'RegressionTable')
        scores = [self.table(t, known) for t in tables]
        if None in scores:
            raise Invalid('a missing number')
        return scores, [t.get('targetCategory') for t in tables]

    def answer(self, scores, classes):
        """The predicted value, and the probability of each class."""
        method = self.model.get('normalizationMethod')
        if self.model.get('functionName') == 'regression':
            return (math.exp(scores[0]) if method == 'exp' else scores[0]), None
        assert method == 'softmax', method
        top = max(scores)
        parts = [math.exp(s - top) for s in scores]
        return classes[scores.index(top)], dict(zip(classes, [p / sum(parts) for p in parts]))


def flat(row):
    """Elements of arrays under names of their own, as the document calls them."""
    given = {}
    for name, value in row.items():
        if isinstance(value, list):
            given.update(('%s[%d]' % (name, k + 1), v) for k, v in enumerate(value))
        elif isinstance(value, dict):
            given.update(('%s[%s]' % (name, k), v) for k, v in value.items())
        else:
            given[name] = value
    return given


def near(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(a), abs(b))


def main():
    document = Document(sys.argv[1])
    answered = refused = 0
    for line in open(sys.argv[2], encoding='utf-8'):
        expected = json.loads(line)
        try:
            scores, classes = document.scores(flat(expected['row']))
        except Invalid:
            refused += 1
            if expected['scores'] is not None:
                print('no answer for ' + line.strip())
            continue
        answered += 1
        if expected['scores'] is None:
            print('an answer for ' + line.strip())
            continue
        predicted, probabilities = document.answer(scores, classes)
        wanted = expected['scores']
        if len(scores) == 2:  # of two classes the first has the score 0
            wanted = wanted + [0.0]
        answer = expected['answer']
        same = near(predicted, float(answer)) if probabilities is None else predicted == answer
        same = same and len(scores) == len(wanted) and all(near(a, b) for a, b in zip(scores, wanted))
        if expected.get('probability') is not None:
            same = same and near(probabilities[classes[0]], expected['probability'])
        if not same:
            print('%s, %s for %s' % (predicted, scores, line.strip()))
    print('%d %d' % (answered, refused))


main()
