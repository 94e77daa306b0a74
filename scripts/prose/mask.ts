import ts from 'typescript';
import { isMap, isScalar, LineCounter, parseDocument, visit } from 'yaml';

/**
 * A mask is a text of the same length as its file. It keeps the prose at its position and replaces everything else, so
 * that a position in the mask is also a position in the file. The character CUT is between two texts, so that no phrase
 * extends over both.
 */
const CUT = '\u0000';

/** Which strings of a TypeScript file are prose. */
export type Strings = 'all' | 'titles';

/** Returns the mask of a file by its name, or undefined for files without prose. */
export function maskFile(file: string, text: string): string | undefined {
  if (/\.(ts|js|mjs)$/.test(file)) return maskTypeScript(text, file.startsWith('test/') ? 'titles' : 'all');
  if (file.endsWith('.md')) return maskMarkdown(text);
  if (file.endsWith('.yaml')) return maskYaml(text);
  if (file.endsWith('.sql')) return maskLines(text, /^\s*--\s?/);
  if (/(^|\/)Makefile$|\.sh$/.test(file)) return maskLines(text, /^[^#\n]*(?:##?)\s/);
  return undefined;
}

/** Keeps comments, and either all strings that contain words or only the titles of tests. */
function maskTypeScript(text: string, strings: Strings): string {
  const mask = new Mask(text);
  const source = ts.createSourceFile('text.ts', text, ts.ScriptTarget.Latest, true);
  const seen = new Set<number>();
  const comment = (from: number, to: number) => {
    if (seen.has(from)) return;
    seen.add(from);
    mask.keepComment(from, to);
  };
  const walk = (node: ts.Node): void => {
    if (node.getChildCount(source) === 0) {
      for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) comment(range.pos, range.end);
      for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) comment(range.pos, range.end);
    }
    if (isProse(node, strings)) mask.keepText(node.getStart(source) + 1, node.getEnd() - 1);
    for (const child of node.getChildren(source)) walk(child);
  };
  walk(source);
  return mask.text();
}

function isProse(node: ts.Node, strings: Strings): boolean {
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  if (!isText) return false;
  if (strings === 'titles') return isTitle(node);
  return /\s/.test(node.text) && !isTagged(node, 'sql');
}

function isTitle(node: ts.Node): boolean {
  const outer = ts.isStringLiteralLike(node) ? node : templateOf(node);
  const call = outer?.parent;
  if (!call || !ts.isCallExpression(call) || call.arguments[0] !== outer) return false;
  return /^(?:it|describe|context|specify)(?:\.only|\.skip)?$/.test(call.expression.getText());
}

function isTagged(node: ts.Node, tag: string): boolean {
  const outer = ts.isStringLiteralLike(node) ? node : templateOf(node);
  return outer !== undefined && ts.isTaggedTemplateExpression(outer.parent) && outer.parent.tag.getText() === tag;
}

function templateOf(node: ts.Node): ts.Node | undefined {
  return ts.findAncestor(node, ts.isTemplateExpression);
}

/** Keeps the text that readers of the rendered page see: no code blocks, no code spans, no addresses of links. */
function maskMarkdown(text: string): string {
  const mask = new Mask(text);
  mask.keep(0, text.length);
  const cuts = [
    /^(```|~~~)[\s\S]*?^\1/gm,
    /``[^\n]+?``|`[^`]*`/g,
    /\]\([^)\s]*\)/g,
    /<!--[\s\S]*?-->/g,
    /\|/g,
    /\n\s*\n/g,
  ];
  for (const cut of cuts) for (const match of text.matchAll(cut)) mask.cut(match.index, match.index + match[0].length);
  return mask.text();
}

const YAML_PROSE = new Set(['description', 'summary', 'title']);

/** Keeps descriptions, summaries, titles and comments. */
function maskYaml(text: string): string {
  const mask = new Mask(text);
  visit(parseDocument(text, { lineCounter: new LineCounter() }), {
    Pair(_, pair, path) {
      const isKey = isScalar(pair.key) && YAML_PROSE.has(String(pair.key.value)) && isMap(path.at(-1));
      if (isKey && isScalar(pair.value) && pair.value.range) mask.keep(pair.value.range[0], pair.value.range[1]);
    },
  });
  for (const match of text.matchAll(/^\s*#.*$/gm)) mask.keepComment(match.index, match.index + match[0].length);
  mask.cutCode();
  return mask.text();
}

function maskLines(text: string, lead: RegExp): string {
  const mask = new Mask(text);
  let at = 0;
  for (const line of text.split('\n')) {
    const match = lead.exec(line);
    if (match) mask.keepComment(at + match[0].length, at + line.length);
    at += line.length + 1;
  }
  return mask.text();
}

class Mask {
  readonly #source: string;
  readonly #chars: string[];

  constructor(source: string) {
    this.#source = source;
    this.#chars = Array.from({ length: source.length }, () => CUT);
  }

  keep(from: number, to: number): void {
    for (let at = from; at < to; at += 1) this.#chars[at] = this.#source[at] as string;
  }

  cut(from: number, to: number): void {
    for (let at = from; at < to; at += 1) this.#chars[at] = CUT;
  }

  /** Keeps a string without the attributes of HTML elements in it. */
  keepText(from: number, to: number): void {
    this.keep(from, to);
    for (const match of this.#source.slice(from, to).matchAll(/\b[\w-]+="[^"\n]*"/g)) {
      this.cut(from + match.index, from + match.index + match[0].length);
    }
  }

  /**
   * Keeps a comment without its comment characters, so that a phrase can continue on the next line, or in the next
   * comment.
   */
  keepComment(from: number, to: number): void {
    this.keep(from, to);
    let start = from;
    while (start > 0 && /\s/.test(this.#source[start - 1] as string)) start -= 1;
    if (this.#chars[start - 1] !== CUT) for (let at = start; at < from; at += 1) this.#chars[at] = ' ';
    const kept = this.#source.slice(from, to);
    for (const match of kept.matchAll(/^\s*(?:\/\*+|\/\/|\*\/|\*|#+|--)|\*\/$/gm)) {
      for (let at = match.index; at < match.index + match[0].length; at += 1) this.#chars[from + at] = ' ';
    }
    for (const match of kept.matchAll(/`[^`\n]*`|@param\s+\S+|\{@link[^}]*\}/g))
      this.cut(from + match.index, from + match.index + match[0].length);
  }

  /** Removes code spans from the kept text. */
  cutCode(): void {
    for (const match of this.text().matchAll(/`[^`\n]*`/g)) this.cut(match.index, match.index + match[0].length);
  }

  text(): string {
    return this.#chars.join('');
  }
}
