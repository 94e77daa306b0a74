import { directiveOf } from '../core/tools/body-template.ts';
import { EMAIL_MEMBERS } from '../core/tools/email.ts';
import { isRecord } from '../core/tools/pointer.ts';
import { parsePathTemplate } from '../core/tools/url.ts';
import type { ToolFile } from './catalogue-files.ts';

/** What the templates of a tool refer to, and what is wrong with how they do. */
export interface References {
  inputs: Set<string>;
  /** Inputs that stand in the path, where an absent one would leave a hole. */
  pathInputs: Set<string>;
  account: Set<string>;
  /** Inputs that stand for files. */
  files: Set<string>;
  problems: string[];
}

/** Reads every template of a tool: path, query, headers, body. */
export function referencesOf({ request, pagination }: ToolFile['data']): References {
  const found: References = {
    inputs: new Set(),
    pathInputs: new Set(),
    account: new Set(),
    files: new Set(),
    problems: [],
  };
  readPath(request.path, found);
  for (const template of Object.values(request.query ?? {})) readTemplate(template, found, false);
  for (const template of Object.values(request.headers ?? {})) readTemplate(template, found, false);
  for (const { input } of request.parameters ?? []) found.inputs.add(input);
  if (request.body?.value !== undefined) readTemplate(request.body.value, found, false);
  for (const name of [request.headers_input, request.query_input, pagination?.request?.page_size_input]) {
    if (name) found.inputs.add(name);
  }
  return found;
}

/** The account values that a tool takes. */
export function accountReferences(tool: ToolFile['data']): Set<string> {
  return referencesOf(tool).account;
}

function readPath(path: string, found: References): void {
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
    found.problems.push(`request.path: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readTemplate(template: unknown, found: References, inEach: boolean): void {
  const directive = directiveOf(template);
  if (!directive) {
    if (isRecord(template)) {
      const stray = Object.keys(template).filter((key) => key.startsWith('$'));
      if (stray.length > 0)
        found.problems.push(`${stray.join(', ')} is no directive; write {$literal: …} for such keys`);
    }
    if (typeof template === 'object' && template !== null) {
      for (const member of Object.values(template)) readTemplate(member, found, inEach);
    }
    return;
  }
  const { name, argument } = directive;
  switch (name) {
    case '$literal':
      return;
    case '$input':
      addName(found.inputs, argument, name, found);
      return;
    case '$account':
      addName(found.account, argument, name, found);
      return;
    case '$item':
      if (!inEach) found.problems.push('$item stands outside $each');
      if (typeof argument !== 'string' || !/^(\/.*)?$/.test(argument))
        found.problems.push('$item takes a JSON pointer');
      return;
    case '$join':
    case '$each':
      readList(name, argument, found);
      return;
    case '$concat':
      if (!Array.isArray(argument)) found.problems.push('$concat takes a list');
      for (const part of Array.isArray(argument) ? argument : []) readTemplate(part, found, inEach);
      return;
    case '$file':
      addName(found.inputs, argument, name, found);
      addName(found.files, argument, name, found);
      return;
    case '$base64':
    case '$base64url':
      readTemplate(argument, found, inEach);
      return;
    case '$email':
      readEmail(argument, found, inEach);
      return;
  }
}

function readList(name: '$join' | '$each', argument: unknown, found: References): void {
  const [required, optional] = name === '$join' ? [['input'], ['separator']] : [['input', 'template'], []];
  const keys = isRecord(argument) ? Object.keys(argument) : [];
  const fits =
    required.every((key) => keys.includes(key)) && keys.every((key) => [...required, ...optional].includes(key));
  if (!fits || !isRecord(argument)) {
    found.problems.push(`${name} takes {${[...required, ...optional].join(', ')}}`);
    return;
  }
  addName(found.inputs, argument['input'], name, found);
  if (name === '$each') readTemplate(argument['template'], found, true);
}

function readEmail(argument: unknown, found: References, inEach: boolean): void {
  if (!isRecord(argument)) {
    found.problems.push('$email takes an object');
    return;
  }
  for (const [member, template] of Object.entries(argument)) {
    if (!(EMAIL_MEMBERS as readonly string[]).includes(member)) found.problems.push(`$email has no member ${member}`);
    readTemplate(template, found, inEach);
  }
}

function addName(names: Set<string>, argument: unknown, directive: string, found: References): void {
  if (typeof argument === 'string') names.add(argument);
  else found.problems.push(`${directive} takes a name`);
}
