#!/usr/bin/env python3
"""META.json against PGXN's meta spec 1.0.0 and against the tree: meta_check.py [FILE]. Prints what is wrong."""
import json
import os
import re
import sys

VERSION = r'(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[A-Za-z][0-9A-Za-z-]*)?'
TERM = r'[^\s/\\\x00-\x1f]{2,}'
URI = r'(https?|ftp|git|ssh)://\S+'
LICENSES = ('agpl_3 apache_1_1 apache_2_0 artistic_1 artistic_2 bsd freebsd gfdl_1_2 gfdl_1_3 gpl_1 gpl_2 gpl_3 lgpl_2_1 lgpl_3_0 mit mozilla_1_0 '
            'mozilla_1_1 openssl perl_5 postgresql qpl_1_0 ssleay sun zlib open_source restricted unrestricted unknown').split()


def text(value):
    return isinstance(value, str) and value.strip() != ''


def texts(value):
    return text(value) or (isinstance(value, list) and value != [] and all(map(text, value)))


def matches(pattern):
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


def only(value, keys, where):
    """Keys are lower-case words of the spec, or begin with X_."""
    for key in value:
        if key not in keys and not re.match('[xX]_', key):
            yield f'{where}: unknown key {key}'


def licence(value):
    if isinstance(value, dict):
        return value != {} and all(matches(URI)(uri) for uri in value.values())
    names = value if isinstance(value, list) else [value]
    return names != [] and all(name in LICENSES for name in names)


def range_of_versions(value):
    """0 (any version), or versions with <, <=, ==, !=, >=, > before them, separated by commas."""
    if value == 0 or value == '0':
        return True
    return isinstance(value, str) and all(re.fullmatch(rf'\s*((<|<=|==|!=|>=|>)\s*)?{VERSION}\s*', part) for part in value.split(','))


def required(meta):
    for key, valid, what in (
            ('name', matches(TERM), 'two characters or more, without spaces and slashes'), ('version', matches(VERSION), 'a semantic version'), ('abstract', text, 'a text'),
            ('maintainer', texts, 'a text or a list of texts'), ('license', licence, 'a name of the spec, a list of them, or names with addresses')):
        if key not in meta:
            yield f'{key} is missing'
        elif not valid(meta[key]):
            yield f'{key} is {meta[key]!r}, expected {what}'
    spec = meta.get('meta-spec')
    if not isinstance(spec, dict) or spec.get('version') != '1.0.0':
        yield f'meta-spec is {spec!r}, expected version 1.0.0'
    elif 'url' in spec and not re.fullmatch(r'https?://pgxn\.org/meta/spec\.txt', spec['url']):
        yield f'meta-spec.url is {spec["url"]}'


def provided(meta):
    provides = meta.get('provides')
    if not isinstance(provides, dict) or provides == {}:
        yield 'provides is missing'
        return
    for name, entry in provides.items():
        yield from only(entry, ('file', 'version', 'abstract', 'docfile'), f'provides.{name}')
        for key, valid in (('file', text), ('version', matches(VERSION))):
            if not valid(entry.get(key)):
                yield f'provides.{name}.{key} is {entry.get(key)!r}'
        for key in ('abstract', 'docfile'):
            if key in entry and not text(entry[key]):
                yield f'provides.{name}.{key} is {entry[key]!r}'


def optional(meta):
    known = 'name version abstract maintainer license provides meta-spec description generated_by tags no_index prereqs release_status resources'.split()
    yield from only(meta, known, 'META.json')
    if 'description' in meta and not text(meta['description']):
        yield 'description is no text'
    if 'tags' in meta and not (isinstance(meta['tags'], list) and meta['tags'] and all(text(tag) and len(tag) < 256 and '/' not in tag for tag in meta['tags'])):
        yield 'tags are no list of texts'
    if meta.get('release_status', 'stable') not in ('stable', 'testing', 'unstable'):
        yield f'release_status is {meta["release_status"]!r}'
    for phase, relations in meta.get('prereqs', {}).items():
        if phase not in ('configure', 'build', 'test', 'runtime', 'develop'):
            yield f'prereqs: unknown phase {phase}'
        for relation, names in relations.items():
            if relation not in ('requires', 'recommends', 'suggests', 'conflicts'):
                yield f'prereqs.{phase}: unknown relation {relation}'
            for name, versions in names.items():
                if not range_of_versions(versions):
                    yield f'prereqs.{phase}.{relation}.{name} is {versions!r}'
    resources = meta.get('resources', {})
    yield from only(resources, ('homepage', 'bugtracker', 'repository'), 'resources')
    if 'homepage' in resources and not matches(URI)(resources['homepage']):
        yield f'resources.homepage is {resources["homepage"]!r}'
    for name, kinds, enough in (('bugtracker', {'web': matches(URI), 'mailto': matches(r'[^@\s]+@[^@\s]+')}, ({'web'}, {'mailto'})),
                                ('repository', {'url': matches(URI), 'web': matches(URI), 'type': matches('[a-z]+')}, ({'web'}, {'url', 'type'}))):
        entry = resources.get(name, {})
        if name in resources and not any(keys <= set(entry) for keys in enough):
            yield f'resources.{name} needs {" or ".join(" and ".join(sorted(keys)) for keys in enough)}'
        yield from only(entry, kinds, f'resources.{name}')
        for key, value in entry.items():
            if key in kinds and not kinds[key](value):
                yield f'resources.{name}.{key} is {value!r}'


def of_the_tree(meta, root):
    """What the spec cannot know: that it is true."""
    def read(name):
        return open(os.path.join(root, name), encoding='utf-8').read()
    version = re.search(r"^default_version = '(.*)'", read('margin.control'), re.M).group(1)
    provided_here = meta['provides']['margin']
    if meta['version'] != version or provided_here['version'] != version:
        yield f'the version is {meta["version"]}, margin.control has {version}'
    for key in ('file', 'docfile'):
        if not os.path.exists(os.path.join(root, provided_here[key])):
            yield f'provides.margin.{key}: there is no {provided_here[key]}'
    if provided_here['file'] != f'sql/margin--{version}.sql':
        yield f'provides.margin.file is {provided_here["file"]}'
    heading = re.search(r'^## (\S+) \((.*)\)$', read('CHANGELOG.md'), re.M)
    if heading.group(1) != version:
        yield f'CHANGELOG.md begins with {heading.group(1)}, margin.control has {version}'
    if (heading.group(2) == 'unreleased') != (meta.get('release_status', 'stable') != 'stable'):
        yield f'release_status is {meta.get("release_status", "stable")}, CHANGELOG.md says {heading.group(2)}'
    if 'resources' not in meta:
        yield 'resources is missing'
    for name, pattern in (('packaging/margin.spec', r'^Version:\s+(\S+)'), ('debian/changelog', r'^margin \(([^)~-]+)')):
        if re.search(pattern, read(name), re.M).group(1) != version:
            yield f'{name} is of version {re.search(pattern, read(name), re.M).group(1)}'


def main(path='META.json'):
    meta = json.load(open(path, encoding='utf-8'))
    for rule in (required, provided, optional):
        for found in rule(meta):
            print(f'{path}: {found}')
    for found in of_the_tree(meta, os.path.dirname(os.path.abspath(path))):
        print(f'{path}: {found}')
    # The checks themselves: a file with a mistake for each.
    bad = dict(meta, version='1', license='mine', maintainer=[], provides={'margin': {'file': '', 'version': '0.2'}}, tags=['a/b'], release_status='new',
               prereqs={'runtime': {'requires': {'PostgreSQL': '14'}}, 'later': {}}, resources={'homepage': 'here', 'forum': {}, 'repository': {'type': 'git'}}, spec={})
    found = [line for rule in (required, provided, optional) for line in rule(bad)]
    if len(found) != 13:
        print('meta_check.py no longer finds what it should:', found)


if __name__ == '__main__':
    main(*sys.argv[1:])
