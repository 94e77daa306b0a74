import { LRUCache } from 'lru-cache';
import { type Node, PatternError, parsePattern, type Test } from './pattern-parser.ts';

export { PatternError };

/**
 * A small regular-expression engine for patterns that other people wrote. It simulates all states at once (Thompson),
 * so the time is bounded by length of value × number of states, whatever the pattern: there is nothing to backtrack.
 * The language: characters, escapes, classes, groups, alternatives, `* + ? {n,m}`, `^` and `$` at the ends.
 * A pattern describes the whole value, as in an HTML form.
 */
export interface LinearPattern {
  matches(value: string): boolean;
}

const MAX_STATES = 2000;
/** Every credential write asks for the patterns of its provider; compiling one takes far longer than using it. */
const COMPILED = new LRUCache<string, LinearPattern>({ max: 200 });
/** Empty parts cost no state, so the work of building is bounded by itself: (((a{0}){9999}){9999}). */
const MAX_STEPS = 20_000;

/** A state consumes one code point that passes `test`, or splits without consuming. */
interface State {
  test?: Test;
  next: number[];
}

/**
 * Compiles a pattern.
 *
 * @throws PatternError for anything outside the language (backreferences, lookaround, named or Unicode classes) or too large
 */
export function compileLinearPattern(source: string): LinearPattern {
  const known = COMPILED.get(source);
  if (known) return known;
  const pattern = compile(source);
  COMPILED.set(source, pattern);
  return pattern;
}

function compile(source: string): LinearPattern {
  const program = new Program();
  const accept = program.add({ next: [] });
  const start = program.build(withoutAnchors(source), accept);
  return { matches: (value) => simulate(program.states, start, accept, value) };
}

/** Why a pattern cannot be used, as a public sentence; undefined when it can. */
export function patternProblem(source: string): string | undefined {
  try {
    compileLinearPattern(source);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

/** Anchors add nothing to a whole-value pattern; one alone shows that its author expected something else. */
function withoutAnchors(source: string): Node {
  const head = source.startsWith('^');
  const tail = /(^|[^\\])(\\\\)*\$$/.test(source);
  if (head !== tail) {
    throw new PatternError('The pattern describes the whole value: write both ^ and $, or neither');
  }
  if (!head) return parsePattern(source);
  const inner = parsePattern(source.slice(1, -1));
  // ^a|b$ would change its meaning without its anchors.
  if (inner.kind === 'choice') throw new PatternError('Put the alternatives between ^ and $ into a group');
  return inner;
}

class Program {
  readonly states: State[] = [];
  #steps = 0;

  add(state: State): number {
    if (this.states.length >= MAX_STATES) throw new PatternError('The pattern is too large');
    return this.states.push(state) - 1;
  }

  /** Adds the states of a node that go on to `next`; returns the first of them. */
  build(node: Node, next: number): number {
    if (++this.#steps > MAX_STEPS) throw new PatternError('The pattern is too large');
    switch (node.kind) {
      case 'test':
        return this.add({ test: node.test, next: [next] });
      case 'sequence':
        return node.nodes.reduceRight((after, item) => this.build(item, after), next);
      case 'choice':
        return this.add({ next: node.nodes.map((item) => this.build(item, next)) });
      case 'repeat':
        return this.#repeat(node, next);
    }
  }

  #repeat(node: Node & { kind: 'repeat' }, next: number): number {
    let after = next;
    if (node.max === Number.POSITIVE_INFINITY) {
      const loop = { next: [next] };
      after = this.add(loop);
      loop.next.push(this.build(node.node, after));
    } else {
      for (let i = node.min; i < node.max; i++) after = this.add({ next: [next, this.build(node.node, after)] });
    }
    for (let i = 0; i < node.min; i++) after = this.build(node.node, after);
    return after;
  }
}

function simulate(states: readonly State[], start: number, accept: number, value: string): boolean {
  let current = closure(states, [start]);
  for (const character of value) {
    const codePoint = character.codePointAt(0) ?? 0;
    const moved: number[] = [];
    for (const index of current) {
      const state = states[index];
      if (state?.test?.(codePoint)) moved.push(...state.next);
    }
    if (moved.length === 0) return false;
    current = closure(states, moved);
  }
  return current.has(accept);
}

function closure(states: readonly State[], from: number[]): Set<number> {
  const seen = new Set<number>();
  const stack = [...from];
  for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
    if (seen.has(index)) continue;
    seen.add(index);
    const state = states[index];
    if (state && !state.test) stack.push(...state.next);
  }
  return seen;
}
