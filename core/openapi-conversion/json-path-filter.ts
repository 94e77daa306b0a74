import type parse from 'jsonpath-rfc9535/parser';
import { compileSearchPattern } from '../connectors/linear-pattern.ts';
import { isRecord } from '../tools/pointer.ts';
import type { PathWork } from './path-work.ts';

type Segment = ReturnType<typeof parse>['segments'][number];
type Selector = (Segment['node'] & { type: 'BracketedSelection' })['selectors'][number];
/** The content of a segment: one selector, or several in brackets. */
export type SegmentNode = Segment['node'] | Selector;
/** The steps of a JSONPath, as the library parses them. */
export type Segments = readonly { type: string; node: SegmentNode }[];

interface Query {
  segments: Segments;
}

/** Runs a query of a filter from the filtered node (`@`) or from the root (`$`), and returns the selected nodes. */
export type RunQuery = (start: '@' | '$', segments: Segments) => readonly { value: unknown }[];

type Literal = { type: 'Literal'; value: string | number | boolean | null };
type FilterQuery = { type: 'FilterQuery'; value: ({ type: 'RelQuery' } | { type: 'JsonPathQuery' }) & Query };
type FunctionCall = {
  type: 'FunctionExpr';
  name: string;
  arguments: (Literal | FilterQuery | JsonPathFilter | FunctionCall)[];
};
type Comparable = Literal | ({ type: 'RelSingularQuery' | 'AbsSingularQuery' } & Query) | FunctionCall;

/** A filter expression of RFC 9535 §2.3.5, as the library parses it. */
export type JsonPathFilter =
  | { type: 'LogicalOrExpr' | 'LogicalAndExpr'; left: JsonPathFilter; right: JsonPathFilter }
  | { type: 'LogicalNotExpr'; expression: JsonPathFilter }
  | { type: 'TestExpr'; expression: FilterQuery | FunctionCall }
  | { type: 'ComparisonExpr'; left: Comparable; right: Comparable; op: '==' | '!=' | '<' | '<=' | '>' | '>=' };

/** The value of a query that selects nothing (RFC 9535 §2.3.5.2.2). */
const NOTHING = Symbol('Nothing');

/**
 * Evaluates a filter for one node of a document.
 *
 * @param runQuery runs the queries of the filter
 * @param work limits the cost of all selections of one import
 */
export function passesFilter(filter: JsonPathFilter, runQuery: RunQuery, work: PathWork): boolean {
  return new Filter(runQuery, work).passes(filter);
}

class Filter {
  readonly #runQuery: RunQuery;
  readonly #work: PathWork;

  constructor(runQuery: RunQuery, work: PathWork) {
    this.#runQuery = runQuery;
    this.#work = work;
  }

  passes(filter: JsonPathFilter): boolean {
    this.#work.step();
    switch (filter.type) {
      case 'LogicalOrExpr':
        return this.passes(filter.left) || this.passes(filter.right);
      case 'LogicalAndExpr':
        return this.passes(filter.left) && this.passes(filter.right);
      case 'LogicalNotExpr':
        return !this.passes(filter.expression);
      case 'TestExpr':
        return filter.expression.type === 'FilterQuery'
          ? this.#nodes(filter.expression).length > 0
          : this.#call(filter.expression) === true;
      case 'ComparisonExpr':
        return this.#compare(this.#value(filter.left), this.#value(filter.right), filter.op);
    }
  }

  #nodes({ value }: FilterQuery) {
    return this.#runQuery(value.type === 'RelQuery' ? '@' : '$', value.segments);
  }

  #value(comparable: Comparable): unknown {
    if (comparable.type === 'Literal') return comparable.value;
    if (comparable.type === 'FunctionExpr') return this.#call(comparable);
    return only(this.#runQuery(comparable.type === 'RelSingularQuery' ? '@' : '$', comparable.segments));
  }

  /** Calls a function (RFC 9535 §2.4). An unknown function, or one with wrong arguments, evaluates to false. */
  #call({ name, arguments: given }: FunctionCall): unknown {
    const [first, second] = given;
    if (first === undefined || given.length !== (name === 'match' || name === 'search' ? 2 : 1)) return false;
    switch (name) {
      case 'count':
        return first.type === 'FilterQuery' && this.#nodes(first).length;
      case 'value':
        return first.type === 'FilterQuery' && only(this.#nodes(first));
      case 'length':
        return lengthOf(this.#argument(first));
      case 'match':
      case 'search': {
        const [text, pattern] = [this.#argument(first), this.#argument(second)];
        if (typeof text !== 'string' || typeof pattern !== 'string') return false;
        const compiled = compileSearchPattern(name === 'match' ? wholeValue(pattern) : pattern);
        return compiled.matches(text, this.#work.patterns);
      }
      default:
        return false;
    }
  }

  #argument(argument: FunctionCall['arguments'][number] | undefined): unknown {
    switch (argument?.type) {
      case 'Literal':
        return argument.value;
      case 'FilterQuery':
        return only(this.#nodes(argument));
      case 'FunctionExpr':
        return this.#call(argument);
      default:
        return NOTHING;
    }
  }

  /** RFC 9535 §2.3.5.2.2 */
  #compare(a: unknown, b: unknown, op: string): boolean {
    switch (op) {
      case '==':
        return this.#equal(a, b);
      case '!=':
        return !this.#equal(a, b);
      case '<':
        return isLess(a, b);
      case '<=':
        return isLess(a, b) || this.#equal(a, b);
      case '>':
        return isLess(b, a);
      default:
        return isLess(b, a) || this.#equal(a, b);
    }
  }

  #equal(a: unknown, b: unknown): boolean {
    this.#work.step();
    if (a === b) return true;
    if (Array.isArray(a) && Array.isArray(b)) {
      return a.length === b.length && a.every((item, index) => this.#equal(item, b[index]));
    }
    if (!isRecord(a) || !isRecord(b)) return false;
    const keys = Object.keys(a);
    return (
      keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && this.#equal(a[key], b[key]))
    );
  }
}

/** Returns the pattern for `match()`, which always compares with the whole text. */
function wholeValue(pattern: string): string {
  return `^(?:${pattern.replace(/^\^/, '').replace(/(?<!\\)((?:\\\\)*)\$$/, '$1')})$`;
}

function only(nodes: readonly { value: unknown }[]): unknown {
  return nodes.length === 1 ? nodes[0]?.value : NOTHING;
}

function isLess(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'number') return a < b;
  return typeof a === 'string' && typeof b === 'string' && a < b;
}

function lengthOf(value: unknown): unknown {
  if (typeof value === 'string') return [...value].length;
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : NOTHING;
}
