import { LRUCache } from 'lru-cache';
import { type Node, PatternError, parsePattern, type Test } from './pattern-parser.ts';

export { PatternError };

/**
 * A small regular-expression engine for untrusted patterns. It tracks all states at the same time (Thompson's
 * algorithm) and never backtracks, so the time is bounded by length of the value × number of states. It supports
 * characters, escapes, classes, groups, alternatives, `* + ? {n,m}`, and `^` and `$` at the ends. A pattern matches the
 * whole value, as in an HTML form, or a part of it, as in JSON Schema.
 */
export interface LinearPattern {
  /**
   * @param budget the number of states that may still be entered. The call reduces it, so one budget can limit several
   * calls and patterns together.
   * @throws PatternBudgetError if the budget is used up
   */
  matches(value: string, budget?: { steps: number }): boolean;
}

/** The budget of state entries was used up. */
export class PatternBudgetError extends Error {}

const MAX_STATES = 2000;
/**
 * Compiled patterns are cached: every write of credentials uses the patterns of its provider, and compiling one takes
 * far longer than using it.
 */
const COMPILED = new LRUCache<string, LinearPattern>({ max: 200 });
const COMPILED_SEARCHES = new LRUCache<string, LinearPattern>({ max: 500 });
/** Limits the work of building the states. Empty parts create no states but still cost work: (((a{0}){9999}){9999}). */
const MAX_STEPS = 20_000;

/** A state either consumes one code point that passes `test`, or branches without consuming. */
interface State {
  test?: Test;
  next: number[];
}

/**
 * Compiles a pattern that must match the whole value.
 *
 * @throws PatternError for anything outside the language (backreferences, lookaround, word borders) or too large
 */
export function compileLinearPattern(source: string): LinearPattern {
  const known = COMPILED.get(source);
  if (known) return known;
  const pattern = compile(source);
  COMPILED.set(source, pattern);
  return pattern;
}

/**
 * Compiles a pattern with the semantics of JSON Schema (2020-12 Validation §6.3.3): without `^` a match may begin
 * anywhere in the value, without `$` it may end anywhere.
 *
 * @throws PatternError as `compileLinearPattern`
 */
export function compileSearchPattern(source: string): LinearPattern {
  const known = COMPILED_SEARCHES.get(source);
  if (known) return known;
  const { node, anchors } = splitAnchors(source);
  const pattern = automaton(node, anchors);
  COMPILED_SEARCHES.set(source, pattern);
  return pattern;
}

function compile(source: string): LinearPattern {
  const { node, anchors } = splitAnchors(source);
  // A whole-value pattern needs no anchors. A single anchor shows that its author expected partial matches.
  if (anchors.head !== anchors.tail) {
    throw new PatternError('The pattern always matches the whole value: write both ^ and $, or neither');
  }
  return automaton(node, { head: true, tail: true });
}

/** Returns why a whole-value pattern cannot be used, as a message for API clients; undefined if it can. */
export function patternProblem(source: string): string | undefined {
  return problemOf(compileLinearPattern, source);
}

/** Returns why a JSON Schema pattern cannot be used, as a message for API clients; undefined if it can. */
export function searchPatternProblem(source: string): string | undefined {
  return problemOf(compileSearchPattern, source);
}

function tooLarge(): PatternError {
  return new PatternError('The pattern is too large. Shorten it, or use smaller numbers of repetitions');
}

function problemOf(compiler: (source: string) => LinearPattern, source: string): string | undefined {
  try {
    compiler(source);
    return undefined;
  } catch (error) {
    if (error instanceof PatternError) return error.message;
    throw error;
  }
}

interface Anchors {
  head: boolean;
  tail: boolean;
}

function splitAnchors(source: string): { node: Node; anchors: Anchors } {
  const head = source.startsWith('^');
  const tail = /(^|[^\\])(\\\\)*\$$/.test(source);
  const node = parsePattern(source.slice(head ? 1 : 0, tail ? -1 : undefined));
  // Removing the anchors of ^a|b$ would change its meaning.
  if ((head || tail) && node.kind === 'choice') {
    throw new PatternError('Put the alternatives between ^ and $ into a group');
  }
  return { node, anchors: { head, tail } };
}

function automaton(node: Node, anchors: Anchors): LinearPattern {
  const program = new Program();
  const accept = program.add({ next: [] });
  const start = program.build(node, accept);
  return {
    matches: (value, budget = { steps: Number.POSITIVE_INFINITY }) =>
      simulate(program.states, start, accept, anchors, value, budget),
  };
}

class Program {
  readonly states: State[] = [];
  #steps = 0;

  add(state: State): number {
    if (this.states.length >= MAX_STATES) throw tooLarge();
    return this.states.push(state) - 1;
  }

  /** Adds the states of a node that lead to `next`, and returns the first of them. */
  build(node: Node, next: number): number {
    if (++this.#steps > MAX_STEPS) throw tooLarge();
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

function simulate(
  states: readonly State[],
  start: number,
  accept: number,
  { head, tail }: Anchors,
  value: string,
  budget: { steps: number },
): boolean {
  /** The step in which each state was last entered. A state is entered once per step. */
  const entered = new Uint32Array(states.length);
  let step = 1;
  const stack: number[] = [];
  const enter = (from: number, into: number[]) => {
    stack.push(from);
    for (let index = stack.pop(); index !== undefined; index = stack.pop()) {
      if (entered[index] === step) continue;
      entered[index] = step;
      budget.steps--;
      const state = states[index] as State;
      if (state.test) into.push(index);
      else stack.push(...state.next);
    }
  };
  let current: number[] = [];
  enter(start, current);
  for (const character of value) {
    if (!tail && entered[accept] === step) return true;
    const codePoint = character.codePointAt(0) ?? 0;
    const moved: number[] = [];
    step++;
    for (const index of current) {
      const { test, next } = states[index] as State;
      if (test?.(codePoint)) for (const target of next) enter(target, moved);
    }
    if (!head) enter(start, moved);
    if (budget.steps < 0) throw new PatternBudgetError('The value is too long for its patterns');
    if (moved.length === 0 && entered[accept] !== step) return false;
    current = moved;
  }
  return entered[accept] === step;
}
