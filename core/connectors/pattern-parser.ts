/** A pattern that is rejected; the message is shown to API clients. */
export class PatternError extends Error {}

export type Test = (codePoint: number) => boolean;

export type Node =
  | { kind: 'test'; test: Test }
  | { kind: 'sequence'; nodes: Node[] }
  | { kind: 'choice'; nodes: Node[] }
  | { kind: 'repeat'; node: Node; min: number; max: number };

const MAX_DEPTH = 20;

const isDigit: Test = (c) => c >= 48 && c <= 57;
const isWord: Test = (c) => isDigit(c) || (c >= 65 && c <= 90) || (c >= 97 && c <= 122) || c === 95;
const isSpace: Test = (c) => /\s/u.test(String.fromCodePoint(c));
const isLineEnd: Test = (c) => c === 10 || c === 13 || c === 0x2028 || c === 0x2029;
const not =
  (test: Test): Test =>
  (c) =>
    !test(c);
const CLASSES: Record<string, Test> = {
  d: isDigit,
  D: not(isDigit),
  w: isWord,
  W: not(isWord),
  s: isSpace,
  S: not(isSpace),
};
/** The Unicode general categories that I-Regexp allows (RFC 9485 §3). */
const CATEGORY = /^(?:C[cfno]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?)$/;
const CONTROLS: Record<string, number> = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Parses the whole pattern; linear-pattern.ts describes the language. */
export function parsePattern(source: string): Node {
  return new Parser(source).parse();
}

class Parser {
  readonly #chars: string[];
  #at = 0;

  constructor(source: string) {
    this.#chars = [...source];
  }

  parse(): Node {
    const node = this.#choice(0);
    if (this.#at < this.#chars.length) throw new PatternError('A closing parenthesis has no opening parenthesis');
    return node;
  }

  #peek(): string | undefined {
    return this.#chars[this.#at];
  }

  #take(): string {
    const character = this.#chars[this.#at++];
    if (character === undefined) throw new PatternError('The pattern ends inside a group, class or escape');
    return character;
  }

  #choice(depth: number): Node {
    if (depth > MAX_DEPTH) throw new PatternError(`The pattern nests groups deeper than ${MAX_DEPTH} levels`);
    const nodes = [this.#sequence(depth)];
    while (this.#peek() === '|') {
      this.#at++;
      nodes.push(this.#sequence(depth));
    }
    return nodes.length === 1 && nodes[0] ? nodes[0] : { kind: 'choice', nodes };
  }

  #sequence(depth: number): Node {
    const nodes: Node[] = [];
    for (let next = this.#peek(); next !== undefined && next !== '|' && next !== ')'; next = this.#peek()) {
      nodes.push(this.#repeat(this.#atom(depth)));
    }
    return { kind: 'sequence', nodes };
  }

  #atom(depth: number): Node {
    const character = this.#take();
    if (character === '(') return this.#group(depth);
    if (character === '[') return { kind: 'test', test: this.#class() };
    if (character === '.') return { kind: 'test', test: not(isLineEnd) };
    if (character === '\\') return { kind: 'test', test: this.#escape() };
    if ('*+?{}^$]'.includes(character)) {
      throw new PatternError(`The character ${character} must be escaped: \\${character}`);
    }
    return { kind: 'test', test: isExactly(character) };
  }

  #group(depth: number): Node {
    if (this.#peek() === '?') {
      this.#at++;
      if (this.#take() !== ':')
        throw new PatternError('Only plain groups are supported: no lookaround, no names, no flags');
    }
    const node = this.#choice(depth + 1);
    if (this.#take() !== ')') throw new PatternError('A group is not closed');
    return node;
  }

  #repeat(node: Node): Node {
    const bounds = this.#bounds();
    if (!bounds) return node;
    if (this.#peek() === '?') this.#at++;
    if (this.#bounds()) throw new PatternError('A repetition must not be repeated without a group');
    return { kind: 'repeat', node, ...bounds };
  }

  #bounds(): { min: number; max: number } | undefined {
    const next = this.#peek();
    if (next === '*' || next === '+' || next === '?') {
      this.#at++;
      return { min: next === '+' ? 1 : 0, max: next === '?' ? 1 : Number.POSITIVE_INFINITY };
    }
    if (next !== '{') return undefined;
    const close = this.#chars.indexOf('}', this.#at);
    const text = this.#chars.slice(this.#at + 1, Math.max(close, this.#at + 1)).join('');
    const found = /^(\d{1,4})(?:(,)(\d{0,4}))?$/.exec(text);
    if (!found) throw new PatternError('A repetition must have the form {n}, {n,} or {n,m}');
    this.#at = close + 1;
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (max < min) throw new PatternError(`The bounds of the repetition {${text}} are out of order`);
    return { min, max };
  }

  #escape(): Test {
    const character = this.#take();
    return this.#namedClass(character) ?? isExactly(this.#escaped(character));
  }

  /** Reads a class such as \d or \p{Lu}; its first character has been read already. */
  #namedClass(character: string): Test | undefined {
    if (character !== 'p' && character !== 'P') return CLASSES[character];
    const close = this.#chars.indexOf('}', this.#at);
    const name = this.#chars.slice(this.#at + 1, Math.max(close, this.#at + 1)).join('');
    if (this.#peek() !== '{' || !CATEGORY.test(name)) {
      throw new PatternError(
        'A Unicode class must have the form \\p{Lu}, with the short name of a general category, such as L, Lu or Nd',
      );
    }
    this.#at = close + 1;
    const category = new RegExp(`^\\p{${name}}$`, 'u');
    const test: Test = (c) => category.test(String.fromCodePoint(c));
    return character === 'p' ? test : not(test);
  }

  #escaped(character: string): string {
    const control = CONTROLS[character];
    if (control !== undefined) return String.fromCodePoint(control);
    if (character === 'x' || character === 'u') {
      const digits = Array.from({ length: character === 'x' ? 2 : 4 }, () => this.#take()).join('');
      if (!/^[0-9a-fA-F]+$/.test(digits))
        throw new PatternError(`The escape \\${character} needs ${digits.length} hexadecimal digits`);
      return String.fromCodePoint(Number.parseInt(digits, 16));
    }
    if (/[A-Za-z0-9]/.test(character)) {
      throw new PatternError(`The escape \\${character} is not supported: no backreferences and no word boundaries`);
    }
    return character;
  }

  #class(): Test {
    const negated = this.#peek() === '^';
    if (negated) this.#at++;
    const tests: Test[] = [];
    for (let next = this.#take(); next !== ']'; next = this.#take()) {
      const escaped = next === '\\' ? this.#take() : undefined;
      const named = escaped === undefined ? undefined : this.#namedClass(escaped);
      tests.push(named ?? this.#range(escaped === undefined ? next : this.#escaped(escaped)));
    }
    const any: Test = (c) => tests.some((test) => test(c));
    return negated ? not(any) : any;
  }

  #range(low: string): Test {
    if (this.#peek() !== '-' || this.#chars[this.#at + 1] === ']') return isExactly(low);
    this.#at++;
    const next = this.#take();
    const high = next === '\\' ? this.#escaped(this.#take()) : next;
    const from = low.codePointAt(0) ?? 0;
    const to = high.codePointAt(0) ?? 0;
    if (to < from) throw new PatternError(`The range ${low}-${high} is out of order`);
    return (c) => c >= from && c <= to;
  }
}

function isExactly(character: string): Test {
  const codePoint = character.codePointAt(0);
  return (c) => c === codePoint;
}
