import parse from 'jsonpath-rfc9535/parser';
import { isRecord } from '../tools/pointer.ts';
import {
  type JsonPathFilter,
  passesFilter,
  type RunQuery,
  type SegmentNode,
  type Segments,
} from './json-path-filter.ts';
import type { PathWork } from './path-work.ts';

/** A node of a document: its value and its position. */
export interface PathNode {
  parent: Record<string, unknown> | unknown[];
  key: string | number;
  value: unknown;
  /** 0 for the root of the document. */
  depth: number;
}

/** Limits for expressions; parsing a longer or more deeply nested expression could take too long. */
const MAX_EXPRESSION = 2000;
const MAX_BRACKETS = 20;

/**
 * Returns the nodes of a document that a JSONPath selects (RFC 9535), each once, parents before their members. A
 * library parses the expression. It is evaluated here, because the library limits neither the number of visited nodes
 * nor the time of `match()` and `search()`.
 *
 * @param work limits the cost of all selections of one import
 * @throws PathWorkError or PatternBudgetError (for patterns) if `work` is used up, PatternError for a pattern that
 * linear-pattern.ts does not support, Error for an invalid JSONPath
 */
export function selectNodes(document: unknown, expression: string, work: PathWork): PathNode[] {
  if (expression.length > MAX_EXPRESSION || nesting(expression) > MAX_BRACKETS) {
    throw new Error(`an expression has at most ${MAX_EXPRESSION} characters and ${MAX_BRACKETS} nested brackets`);
  }
  const root = { parent: { root: document }, key: 'root', value: document, depth: 0 };
  work.step(expression.length);
  return once(follow(root, root, parse(expression).segments, work));
}

/**
 * Returns the nodes that a query selects, possibly several times.
 *
 * @param start the node where the query begins: the value of `@` in a filter, otherwise the root
 */
function follow(root: PathNode, start: PathNode, segments: Segments, work: PathWork): PathNode[] {
  let nodes = [start];
  for (const { type, node } of segments) {
    const found: PathNode[] = [];
    for (const from of nodes) {
      const visited = type === 'DescendantSegment' ? descendants(from, work) : [from];
      for (const each of visited) for (const chosen of select(root, each, node, work)) found.push(chosen);
    }
    nodes = found;
  }
  return nodes;
}

function* descendants(node: PathNode, work: PathWork): Generator<PathNode> {
  yield node;
  for (const child of children(node, work)) yield* descendants(child, work);
}

function* children({ value, depth }: PathNode, work: PathWork): Generator<PathNode> {
  if (Array.isArray(value)) {
    for (const [key, item] of value.entries()) {
      work.step();
      yield { parent: value, key, value: item, depth: depth + 1 };
    }
  } else if (isRecord(value)) {
    for (const key of Object.keys(value)) {
      work.step();
      yield { parent: value, key, value: value[key], depth: depth + 1 };
    }
  }
}

function* select(root: PathNode, node: PathNode, selector: SegmentNode, work: PathWork): Generator<PathNode> {
  const { value } = node;
  work.step();
  switch (selector.type) {
    case 'BracketedSelection':
      for (const each of selector.selectors) yield* select(root, node, each, work);
      return;
    case 'WildcardSelector':
      yield* children(node, work);
      return;
    case 'MemberNameShorthand':
    case 'NameSelector':
      if (isRecord(value) && Object.hasOwn(value, selector.value))
        yield { parent: value, key: selector.value, value: value[selector.value], depth: node.depth + 1 };
      return;
    case 'IndexSelector':
      if (Array.isArray(value)) yield* itemAt(value, selector.value, node.depth + 1);
      return;
    case 'SliceSelector':
      if (Array.isArray(value)) yield* slice(value, selector, node.depth + 1, work);
      return;
    case 'FilterSelector':
      for (const child of children(node, work)) {
        const runQuery: RunQuery = (start, segments) => follow(root, start === '@' ? child : root, segments, work);
        if (passesFilter(selector.value as JsonPathFilter, runQuery, work)) yield child;
      }
  }
}

function* itemAt(list: unknown[], index: number, depth: number): Generator<PathNode> {
  const key = index < 0 ? list.length + index : index;
  if (key >= 0 && key < list.length) yield { parent: list, key, value: list[key], depth };
}

/** RFC 9535 §2.3.4.2.2 */
function* slice(
  list: unknown[],
  { start, end, step }: { start: number | null; end: number | null; step: number | null },
  depth: number,
  work: PathWork,
): Generator<PathNode> {
  const by = step ?? 1;
  if (by === 0) return;
  const { length } = list;
  const normal = (index: number) => (index < 0 ? length + index : index);
  const within = (index: number, low: number, high: number) => Math.min(Math.max(index, low), high);
  const from = normal(start ?? (by > 0 ? 0 : length - 1));
  const to = end === null ? (by > 0 ? length : -1) : normal(end);
  const first = by > 0 ? within(from, 0, length) : within(from, -1, length - 1);
  const last = by > 0 ? within(to, 0, length) : within(to, -1, length - 1);
  for (let key = first; by > 0 ? key < last : key > last; key += by) {
    work.step();
    yield { parent: list, key, value: list[key], depth };
  }
}

/** Removes duplicates: a path such as `$['a','a']` selects a node twice, but an action applies once. */
function once(nodes: readonly PathNode[]): PathNode[] {
  const seen = new Map<object, Set<string | number>>();
  return nodes.filter(({ parent, key }) => {
    const keys = seen.get(parent) ?? new Set();
    seen.set(parent, keys);
    if (keys.has(key)) return false;
    keys.add(key);
    return true;
  });
}

/** Returns the deepest nesting of brackets and parentheses. Those in quotes count, so it may be too high. */
function nesting(expression: string): number {
  let depth = 0;
  let deepest = 0;
  for (const character of expression) {
    if (character === '[' || character === '(') deepest = Math.max(deepest, ++depth);
    else if (character === ']' || character === ')') depth--;
  }
  return deepest;
}
