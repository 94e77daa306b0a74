import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PatternBudgetError } from '../../../core/connectors/linear-pattern.ts';
import { PatternError } from '../../../core/connectors/pattern-parser.ts';
import { selectNodes } from '../../../core/openapi-conversion/json-path.ts';
import { PathWork, PathWorkError } from '../../../core/openapi-conversion/path-work.ts';

interface Case {
  name: string;
  selector: string;
  document?: unknown;
  result?: unknown[];
  results?: unknown[][];
  invalid_selector?: true;
}

const SUITE = new URL(
  '../../../node_modules/jsonpath-rfc9535/src/__tests__/jsonpath-compliance-test-suite/cts.json',
  import.meta.url,
);

function select(document: unknown, expression: string, work = new PathWork(100_000, 100_000)): unknown[] {
  return selectNodes(document, expression, work).map(({ value }) => value);
}

describe('A JSONPath', () => {
  it('selects the nodes that the compliance test suite of RFC 9535 expects', () => {
    const { tests } = JSON.parse(readFileSync(SUITE, 'utf8')) as { tests: Case[] };
    const valid = tests.filter((test) => test.invalid_selector === undefined);
    expect(valid.length).to.be.above(400);
    // Documents with line separators of Unicode are left out: a dot in our patterns, as in those of JSON Schema, does
    // not match them.
    const compared = valid.filter(({ document }) => !/[\u2028\u2029]/.test(JSON.stringify(document)));
    expect(valid.length - compared.length).to.equal(10);
    const wrong = compared.filter(({ selector, document, result, results }) => {
      const allowed = (results ?? [result]).map((each) => sorted(new Set(each as unknown[])));
      return !allowed.includes(sorted(select(document, selector)));
    });
    expect(wrong.map(({ name, selector }) => `${name}: ${selector}`)).to.deep.equal([]);
  });

  it('selects each node once, parents first', () => {
    const document = { a: { b: 1 } };
    expect(select(document, "$['a','a']['b',*]")).to.deep.equal([1]);
    expect(select(document, '$..*')).to.deep.equal([{ b: 1 }, 1]);
  });

  it('M4: counts the nodes that it visits', () => {
    const list = Array.from({ length: 1000 }, (_, index) => ({ index }));
    const nested = '$..[?count($..*) > 0]';
    expect(() => select(list, nested, new PathWork(500_000, 0))).to.throw(PathWorkError);
    expect(() => select(list, '$[?@ == $[0]]', new PathWork(1000, 0))).to.throw(PathWorkError);
    expect(select(list, '$[?@.index == 7]')).to.deep.equal([{ index: 7 }]);
  });

  it('M4: matches patterns in linear time, within a budget', () => {
    const texts = ['a'.repeat(5000), 'b'];
    expect(select(texts, "$[?match(@, '(a+)+b')]")).to.deep.equal([]);
    expect(select(texts, "$[?search(@, '(a|a)*$')]", new PathWork(1000, 1_000_000))).to.deep.equal(texts);
    expect(() => select(texts, "$[?match(@, '(a+)+b')]", new PathWork(1000, 10_000))).to.throw(PatternBudgetError);
    expect(() => select(texts, "$[?match(@, '(a)\\\\1')]")).to.throw(PatternError);
  });

  it('M4: refuses expressions that are long or deeply nested before they are parsed', () => {
    const deep = `$[?${'('.repeat(30)}@${')'.repeat(30)}]`;
    for (const expression of [deep, `$.${'a'.repeat(2000)}`]) {
      expect(() => select({}, expression)).to.throw('at most 2000 characters and 20 nested brackets');
    }
  });
});

/** Removes order and repetition, on which overlays do not depend. */
function sorted(values: Iterable<unknown>): string {
  return [...new Set([...values].map((value) => JSON.stringify(value)))].sort().join();
}
