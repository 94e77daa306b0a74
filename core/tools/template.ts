/** A value of a variable in a URI template; undefined and null expand to nothing (RFC 6570 §2.3). */
export type TemplateValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly TemplateScalar[]
  | Readonly<Record<string, TemplateScalar>>;

export type TemplateScalar = string | number | boolean | null | undefined;

export interface VariableSpec {
  name: string;
  explode: boolean;
  /** How many characters of a text are used, from its start (RFC 6570 §2.4.1); undefined for all. */
  prefix?: number;
}

export type Operator = '' | '+' | '#' | '.' | '/' | ';' | '?' | '&';

export type TemplatePart = { literal: string } | { operator: Operator; variables: VariableSpec[] };

/** RFC 6570 appendix A. */
const OPERATORS: Record<
  Operator,
  { first: string; separator: string; named: boolean; ifEmpty: string; reserved: boolean }
> = {
  '': { first: '', separator: ',', named: false, ifEmpty: '', reserved: false },
  '+': { first: '', separator: ',', named: false, ifEmpty: '', reserved: true },
  '#': { first: '#', separator: ',', named: false, ifEmpty: '', reserved: true },
  '.': { first: '.', separator: '.', named: false, ifEmpty: '', reserved: false },
  '/': { first: '/', separator: '/', named: false, ifEmpty: '', reserved: false },
  ';': { first: ';', separator: ';', named: true, ifEmpty: '', reserved: false },
  '?': { first: '?', separator: '&', named: true, ifEmpty: '=', reserved: false },
  '&': { first: '&', separator: '&', named: true, ifEmpty: '=', reserved: false },
};

const EXPRESSION = /^([+#./;?&]?)([^{}]+)$/;
const VARIABLE = /^((?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})(?:\.?(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2}))*)(\*|:[1-9]\d{0,3})?$/;

/** RFC 6570 or the rules of tool paths do not allow a template. */
export class TemplateSyntaxError extends Error {}

/**
 * Parses a URI template of any level (RFC 6570 §2).
 *
 * @throws TemplateSyntaxError
 */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let rest = template;
  while (rest !== '') {
    const open = rest.indexOf('{');
    const literal = open === -1 ? rest : rest.slice(0, open);
    if (literal.includes('}')) throw new TemplateSyntaxError(`A closing brace has no opening brace in ${template}`);
    if (literal !== '') parts.push({ literal });
    if (open === -1) break;
    const close = rest.indexOf('}', open);
    if (close === -1) throw new TemplateSyntaxError(`An opening brace has no closing brace in ${template}`);
    parts.push(parseExpression(rest.slice(open + 1, close)));
    rest = rest.slice(close + 1);
  }
  return parts;
}

function notAnExpression(text: string): TemplateSyntaxError {
  return new TemplateSyntaxError(`{${text}} is not an expression such as {name} or {?a,b}`);
}

function parseExpression(text: string): TemplatePart {
  const found = EXPRESSION.exec(text);
  if (!found) throw notAnExpression(text);
  const [, operator = '', list = ''] = found;
  const variables = list.split(',').map((item): VariableSpec => {
    const [, name, modifier] = VARIABLE.exec(item) ?? [];
    if (name === undefined) throw notAnExpression(text);
    return {
      name,
      explode: modifier === '*',
      prefix: modifier?.startsWith(':') ? Number(modifier.slice(1)) : undefined,
    };
  });
  return { operator: operator as Operator, variables };
}

/** Expands parsed parts (RFC 6570 §3). `lookup` returns the value of a variable by its name. */
export function expandTemplate(parts: readonly TemplatePart[], lookup: (name: string) => TemplateValue): string {
  let text = '';
  for (const part of parts) {
    text += 'literal' in part ? encodeReserved(part.literal) : expandExpression(part, lookup);
  }
  return text;
}

function expandExpression(
  { operator, variables }: { operator: Operator; variables: VariableSpec[] },
  lookup: (name: string) => TemplateValue,
): string {
  const { first, separator } = OPERATORS[operator];
  let text: string | undefined;
  for (const variable of variables) {
    const expanded = expandVariable(operator, variable, lookup(variable.name));
    if (expanded !== undefined) text = text === undefined ? first + expanded : text + separator + expanded;
  }
  return text ?? '';
}

function expandVariable(operator: Operator, variable: VariableSpec, value: TemplateValue): string | undefined {
  if (value === undefined || value === null) return undefined;
  const { separator, named, ifEmpty, reserved } = OPERATORS[operator];
  const encode = reserved ? encodeReserved : encodeUnreserved;
  const withName = (name: string, text: string) => (text === '' ? `${name}${ifEmpty}` : `${name}=${text}`);

  if (typeof value !== 'object') {
    const text = String(value);
    const kept = variable.prefix === undefined ? text : [...text].slice(0, variable.prefix).join('');
    return named ? withName(variable.name, encode(kept)) : encode(kept);
  }
  const pairs = pairsOf(value);
  if (pairs.length === 0) return undefined;
  if (!variable.explode) {
    const flat = pairs.flatMap(([key, item]) => (key === undefined ? [item] : [key, item])).map(encode);
    return named ? withName(variable.name, flat.join(',')) : flat.join(',');
  }
  return pairs
    .map(([key, item]) => {
      if (key !== undefined) return named ? withName(encode(key), encode(item)) : `${encode(key)}=${encode(item)}`;
      return named ? withName(variable.name, encode(item)) : encode(item);
    })
    .join(separator);
}

/** Returns the members of a list (without keys) or of an associative array. Undefined and null members are omitted. */
function pairsOf(
  value: readonly TemplateScalar[] | Readonly<Record<string, TemplateScalar>>,
): [string | undefined, string][] {
  const entries: [string | undefined, TemplateScalar][] = Array.isArray(value)
    ? value.map((item) => [undefined, item])
    : Object.entries(value);
  return entries.filter(([, item]) => item !== undefined && item !== null).map(([key, item]) => [key, String(item)]);
}

/** Matches texts that need no encoding, which are most names and values. */
const UNRESERVED = /^[A-Za-z0-9._~-]*$/;
const URI_CHARACTERS = /^[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]*$/;

/** Percent-encodes all characters except unreserved ones (RFC 3986 §2.3). */
export function encodeUnreserved(text: string): string {
  if (UNRESERVED.test(text)) return text;
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/**
 * Percent-encodes characters that a URI cannot contain, but keeps reserved characters and percent-encoded triplets (RFC
 * 6570 §3.2.3). Literals are encoded in the same way (§3.1).
 */
function encodeReserved(text: string): string {
  if (URI_CHARACTERS.test(text)) return text;
  return text
    .split(/(%[0-9A-Fa-f]{2})/)
    .map((piece, index) =>
      index % 2 === 1 ? piece : encodeURI(piece.toWellFormed()).replace(/%5B/g, '[').replace(/%5D/g, ']'),
    )
    .join('');
}
