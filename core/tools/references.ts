import type { FieldError } from '../errors.ts';
import { directiveOf, FILE_MEMBERS } from './body-template.ts';
import { EMAIL_MEMBERS } from './email.ts';
import { isRecord } from './pointer.ts';
import type { ToolDefinition, ToolRequest, ToolStep } from './tool.ts';
import { parsePathTemplate } from './url.ts';

/** The inputs and account values that the templates of a tool refer to, and the problems found. */
export interface References {
  inputs: Set<string>;
  /** Inputs in the path by an expression `{name}` or `{+name}`, which must have a value. */
  pathInputs: Set<string>;
  account: Set<string>;
  /** Inputs that are used as files. */
  files: Set<string>;
  problems: FieldError[];
}

/**
 * Collects the inputs and account values that a tool uses: in its templates (path, query, headers, body, steps) and in
 * settings that name an input.
 */
export function referencesOf({ request, pagination }: ToolDefinition): References {
  const found: References = {
    inputs: new Set(),
    pathInputs: new Set(),
    account: new Set(),
    files: new Set(),
    problems: [],
  };
  readPath(request.path, found, 'request.path');
  readParts(request, found, 'request');
  for (const { input } of request.parameters ?? []) found.inputs.add(input);
  for (const name of [request.headers_input, request.query_input, pagination?.request?.page_size_input]) {
    if (name) found.inputs.add(name);
  }
  readSteps(request.steps ?? [], found);
  return found;
}

/** Adds the references of the steps, except those to values that steps take from responses. */
function readSteps(steps: readonly ToolStep[], found: References): void {
  const taken = new Set<string>();
  for (const [index, step] of steps.entries()) {
    const path = `request.steps[${index}]`;
    const refused = (field: string, message: string) => found.problems.push({ field: `${path}.${field}`, message });
    for (const name of Object.keys(step.take)) {
      if (found.inputs.has(name) || taken.has(name))
        refused(`take.${name}`, 'must have another name: an input or another value has this one');
      taken.add(name);
    }
    const its: References = { ...found, inputs: new Set(), pathInputs: new Set() };
    if (step.path !== undefined) readPath(step.path, its, `${path}.path`);
    readParts(step, its, path);
    if (step.address !== undefined) its.inputs.add(step.address);
    if (step.address !== undefined && !taken.has(step.address)) refused('address', 'must be a value that a step takes');
    for (const name of its.inputs) if (!taken.has(name)) found.inputs.add(name);
    for (const name of its.pathInputs) if (!taken.has(name)) found.pathInputs.add(name);
  }
}

/** Reads the query, the headers and the body of a request. */
function readParts(
  { query, headers, body }: Pick<ToolRequest, 'query' | 'headers' | 'body'>,
  found: References,
  path: string,
) {
  readMembers(query ?? {}, { found, path: `${path}.query`, inEach: false });
  readMembers(headers ?? {}, { found, path: `${path}.headers`, inEach: false });
  if (body?.value !== undefined) readTemplate(body.value, { found, path: `${path}.body.value`, inEach: false });
}

/** Returns the names of the account values that a tool uses. */
export function accountReferences(tool: ToolDefinition): Set<string> {
  return referencesOf(tool).account;
}

/** The current position in a tool's templates. */
interface Place {
  found: References;
  /** The path from the tool's root, with dots. */
  path: string;
  /** Whether `$item` is allowed here. */
  inEach: boolean;
}

function readPath(path: string, found: References, field: string): void {
  try {
    const parsed = parsePathTemplate(path);
    for (const [parts, inPath] of [
      [parsed.path, true],
      [parsed.query, false],
    ] as const) {
      for (const part of parts) {
        if ('literal' in part) continue;
        for (const { name } of part.variables) {
          if (name.startsWith('account.')) found.account.add(name.slice('account.'.length));
          else found.inputs.add(name);
          if (inPath && ['', '+'].includes(part.operator)) found.pathInputs.add(name);
        }
      }
    }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    found.problems.push({ field, message });
  }
}

function readTemplate(template: unknown, place: Place): void {
  const directive = directiveOf(template);
  if (!directive) {
    if (isRecord(template)) {
      const stray = Object.keys(template).filter((key) => key.startsWith('$'));
      if (stray.length > 0) refuse(place, `${stray.join(', ')} is not a directive; write {$literal: …} for such keys`);
    }
    if (typeof template === 'object' && template !== null) readMembers(template, place);
    return;
  }
  const { name, argument } = directive;
  const inside = { ...place, path: `${place.path}.${name}` };
  switch (name) {
    case '$literal':
      return;
    case '$input':
      addName(place.found.inputs, argument, name, place);
      return;
    case '$account':
      addName(place.found.account, argument, name, place);
      return;
    case '$item':
      if (!place.inEach) refuse(place, '$item is only allowed in $each');
      if (typeof argument !== 'string' || !/^(\/.*)?$/.test(argument)) refuse(place, '$item must be a JSON pointer');
      return;
    case '$join':
    case '$each':
      readList(name, argument, inside);
      return;
    case '$concat':
    case '$merge':
      if (Array.isArray(argument)) readMembers(argument, inside);
      else refuse(place, `${name} must be a list`);
      return;
    case '$file':
      addName(place.found.inputs, argument, name, place);
      addName(place.found.files, argument, name, place);
      return;
    case '$file_info':
      readFileInfo(argument, inside);
      return;
    case '$base64':
    case '$base64url':
    case '$html':
    case '$json':
      readTemplate(argument, inside);
      return;
    case '$email':
      readEmail(argument, inside);
      return;
  }
}

function readMembers(templates: object, place: Place): void {
  const member = (key: string) => (Array.isArray(templates) ? `${place.path}[${key}]` : `${place.path}.${key}`);
  for (const [key, template] of Object.entries(templates)) readTemplate(template, { ...place, path: member(key) });
}

function readList(name: '$join' | '$each', argument: unknown, place: Place): void {
  const keys = isRecord(argument) ? Object.keys(argument) : [];
  const list = name === '$each' && keys.includes('files') ? 'files' : 'input';
  const [required, optional] = name === '$join' ? [['input'], ['separator']] : [[list, 'template'], []];
  const fits =
    required.every((key) => keys.includes(key)) && keys.every((key) => [...required, ...optional].includes(key));
  if (!fits || !isRecord(argument)) {
    refuse(
      place,
      `must be an object with the members ${required.join(' and ')} (allowed: ${[...required, ...optional].join(', ')})`,
    );
    return;
  }
  addName(place.found.inputs, argument[list], name, place);
  if (list === 'files') addName(place.found.files, argument[list], name, place);
  if (name === '$each') {
    readTemplate(argument['template'], { ...place, path: `${place.path}.template`, inEach: true });
  }
}

function readFileInfo(argument: unknown, place: Place): void {
  const { input, member, ...others } = isRecord(argument) ? argument : {};
  const isKnown = (FILE_MEMBERS as readonly unknown[]).includes(member) && Object.keys(others).length === 0;
  if (!isKnown)
    refuse(place, `must be an object with the members input and member (one of ${FILE_MEMBERS.join(', ')})`);
  addName(place.found.inputs, input, '$file_info', place);
  addName(place.found.files, input, '$file_info', place);
}

function readEmail(argument: unknown, place: Place): void {
  if (!isRecord(argument)) {
    refuse(place, '$email must be an object');
    return;
  }
  for (const member of Object.keys(argument)) {
    if (!(EMAIL_MEMBERS as readonly string[]).includes(member))
      refuse(place, `$email has an unknown member ${member} (allowed: ${EMAIL_MEMBERS.join(', ')})`);
  }
  readMembers(argument, place);
}

function addName(names: Set<string>, argument: unknown, directive: string, place: Place): void {
  if (typeof argument === 'string') names.add(argument);
  else refuse(place, `${directive} must be a name`);
}

function refuse({ found, path }: Place, message: string): void {
  found.problems.push({ field: path, message });
}
