import { isRecord } from '../tools/pointer.ts';
import { TemplateSyntaxError } from '../tools/template.ts';
import type { ToolParameter, ToolRequest } from '../tools/tool.ts';
import { parsePathTemplate } from '../tools/url.ts';
import type { BodyPlan } from './body.ts';
import type { InputDraft } from './inputs.ts';
import type { Operation } from './operations.ts';
import type { Parameter } from './parameters.ts';

/** The parts of an operation that its request template is built from, after every input got its key. */
export interface RequestParts {
  operation: Operation;
  /** The part of the path between the base address and the operation's path. */
  prefix: string;
  offered: readonly { parameter: Parameter; draft: InputDraft }[];
  fixed: readonly { parameter: Parameter; value: unknown }[];
  body: BodyPlan | undefined;
  keyOf(draft: InputDraft): string;
}

/** A path that a request template cannot express. */
export class PathError extends Error {}

/**
 * Builds the request template of an operation.
 *
 * @throws PathError if the path cannot be written as a URI template
 */
export function writeRequest({ operation, prefix, offered, fixed, body, keyOf }: RequestParts): ToolRequest {
  const inPath = new Map(
    offered.filter(({ parameter }) => parameter.in === 'path').map((entry) => [entry.parameter.name, entry]),
  );
  const path = writePath(prefix + operation.path, (name) => {
    const entry = inPath.get(name);
    if (!entry) throw new PathError(`{${name}} in the path is not a parameter of the operation`);
    return expression(entry.parameter, keyOf(entry.draft));
  });
  const parameters = offered.flatMap(({ parameter, draft }) => styled(parameter, keyOf(draft)));
  const constants = (place: string) =>
    Object.fromEntries(
      fixed
        .filter(({ parameter }) => parameter.in === place)
        .map(({ parameter, value }) => [parameter.name, isRecord(value) ? { $literal: value } : value]),
    );
  const query = constants('query');
  const headers = constants('header');
  return {
    method: operation.method as ToolRequest['method'],
    path,
    ...(Object.keys(query).length > 0 && { query }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { body: body.write(keyOf) }),
  };
}

/** Returns the names in braces in a path, in order. */
export function placesOf(path: string): string[] {
  return [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name as string);
}

/**
 * Converts a path of a document to a URI template: the part after `#` is dropped (documents use it to distinguish
 * operations), and characters that a URL cannot contain are encoded.
 */
function writePath(path: string, place: (name: string) => string): string {
  const [sent = ''] = path.split('#', 1);
  const template = sent
    .split(/(\{[^{}]+\})/)
    .map((part, index) => (index % 2 === 1 ? place(part.slice(1, -1)) : encodeLiteral(part)))
    .join('');
  try {
    parsePathTemplate(template);
  } catch (error) {
    if (error instanceof TemplateSyntaxError) throw new PathError(error.message);
    throw error;
  }
  return template;
}

function encodeLiteral(text: string): string {
  return text.replace(/[^A-Za-z0-9/._~!$&'()*+,;=:@?%-]/gu, (character) =>
    /[{}]/.test(character) ? character : encodeURIComponent(character),
  );
}

/**
 * Returns the RFC 6570 expression for a path parameter. RFC 6570 has all path styles of OpenAPI. The style `matrix`
 * writes the name of the variable, which is the key of the input, into the path. So it is only possible if the key
 * equals the parameter's name.
 */
function expression({ style = 'simple', explode = false, multiSegment, name }: Parameter, key: string): string {
  const star = explode ? '*' : '';
  if (multiSegment) return `{+${key}}`;
  if (style === 'label') return `{.${key}${star}}`;
  if (style === 'matrix') {
    if (key !== name) throw new PathError(`{${name}} uses the style matrix with a different name`);
    return `{;${key}${star}}`;
  }
  return `{${key}${star}}`;
}

const QUERY_STYLES = new Set(['form', 'spaceDelimited', 'pipeDelimited', 'deepObject']);

/**
 * Returns the declaration of a query or header parameter, without members that have their default value; empty for a
 * path parameter.
 */
function styled(
  { in: place, name, style, explode, allowReserved, contentType }: Parameter,
  input: string,
): ToolParameter[] {
  if (place === 'header') {
    return [
      {
        in: place,
        name,
        input,
        ...(explode && { explode }),
        ...(contentType !== undefined && { content_type: contentType }),
      },
    ];
  }
  if (place !== 'query') return [];
  const stated =
    style !== undefined && style !== 'form' && QUERY_STYLES.has(style) ? (style as ToolParameter['style']) : undefined;
  const usual = stated === undefined;
  return [
    {
      in: place,
      name,
      input,
      ...(stated !== undefined && { style: stated }),
      ...(explode !== undefined && explode !== usual && { explode }),
      ...(allowReserved && { allow_reserved: true }),
      ...(contentType !== undefined && { content_type: contentType }),
    },
  ];
}
