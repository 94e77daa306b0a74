import { buildEmail, EMAIL_MEMBERS } from './email.ts';
import { FileContent, OCTETS } from './file-content.ts';
import { filesOf, type StoredFiles } from './file-input.ts';
import { inputProblem } from './input-problem.ts';
import { markdownToHtml } from './markdown-to-html.ts';
import { atPointer, isRecord } from './pointer.ts';
import type { RenderBudget } from './render-budget.ts';

/** The values that a template can use. */
export interface TemplateScope {
  input: Readonly<Record<string, unknown>>;
  account: Readonly<Record<string, string>>;
  /** Inside $each: the current item of the list, to which $item refers. */
  item?: unknown;
  /** The stored files that the call names; undefined while the call is only validated. */
  files?: StoredFiles;
  /** Limits the size of the output. */
  budget: RenderBudget;
}

/** The result of a template that has no value, for example because the input that it names was not given. */
export const ABSENT = Symbol('absent');

const DIRECTIVES = [
  '$input',
  '$account',
  '$literal',
  '$item',
  '$join',
  '$concat',
  '$each',
  '$merge',
  '$json',
  '$html',
  '$base64',
  '$base64url',
  '$file',
  '$file_info',
  '$email',
] as const;

export type Directive = (typeof DIRECTIVES)[number];

/** The members that $file_info can return. */
export const FILE_MEMBERS = ['file_name', 'mime_type', 'size', 'content_range'] as const;
type FileMember = (typeof FILE_MEMBERS)[number];

/** Returns the directive of a template object with its argument; undefined for plain JSON. */
export function directiveOf(template: unknown): { name: Directive; argument: unknown } | undefined {
  if (!isRecord(template)) return undefined;
  const [key, ...others] = Object.keys(template);
  if (key === undefined || others.length > 0 || !(DIRECTIVES as readonly string[]).includes(key)) return undefined;
  return { name: key as Directive, argument: template[key] };
}

/**
 * Renders a template (see catalogue/tool.schema.json): plain JSON in which directives such as `{$input: name}` are
 * replaced by values. No code is evaluated.
 *
 * @returns the value, or ABSENT if there is none, for example because the input that the template names was not given
 * @throws ApiError INVALID_TOOL_INPUT if an input cannot be used at its place, or if the output is too large
 */
export function renderTemplate(template: unknown, scope: TemplateScope): unknown {
  scope.budget.node();
  const directive = directiveOf(template);
  if (directive) return renderDirective(directive.name, directive.argument, scope);
  if (Array.isArray(template))
    return renderMembers(template.entries(), scope, (kept) => kept.map(([, value]) => value));
  if (isRecord(template)) return renderMembers(Object.entries(template), scope, (kept) => Object.fromEntries(kept));
  return template;
}

/**
 * Renders the template of a whole body. A body that is an object is always sent, even if all of its optional members
 * are absent: its fixed members may suffice, for example the query of a GraphQL call.
 *
 * @returns undefined if the body is a directive or a list and the inputs that it needs are absent
 */
export function renderBodyTemplate(template: unknown, scope: TemplateScope): unknown {
  if (directiveOf(template) || !isRecord(template)) {
    const value = renderTemplate(template, scope);
    return value === ABSENT ? undefined : value;
  }
  const members = Object.entries(template).map(([key, member]) => [key, renderTemplate(member, scope)] as const);
  return Object.fromEntries(members.filter(([, value]) => value !== ABSENT));
}

/**
 * Renders the members of an object or list, without absent ones. Returns ABSENT if some members depend on values of the
 * call (inputs or account values) and all of these members are absent.
 */
function renderMembers<K extends string | number>(
  members: Iterable<[K, unknown]>,
  scope: TemplateScope,
  collect: (kept: [K, unknown][]) => unknown,
): unknown {
  const kept: [K, unknown][] = [];
  let dependent = 0;
  let filled = 0;
  for (const [key, member] of members) {
    const value = renderTemplate(member, scope);
    if (dependsOnInput(member)) dependent++;
    if (value === ABSENT) continue;
    if (dependsOnInput(member)) filled++;
    kept.push([key, value]);
  }
  return dependent > 0 && filled === 0 ? ABSENT : collect(kept);
}

function dependsOnInput(template: unknown): boolean {
  const directive = directiveOf(template);
  if (directive) return directive.name !== '$literal';
  if (Array.isArray(template)) return template.some(dependsOnInput);
  return isRecord(template) && Object.values(template).some(dependsOnInput);
}

function renderDirective(name: Directive, argument: unknown, scope: TemplateScope): unknown {
  switch (name) {
    case '$literal':
      return argument;
    case '$input':
      return ownOrAbsent(scope.input, String(argument));
    case '$account':
      return ownOrAbsent(scope.account, String(argument));
    case '$item':
      return atPointer(scope.item, String(argument)) ?? ABSENT;
    case '$join':
      return renderJoin(argument, scope);
    case '$concat':
      return renderConcat(argument, scope);
    case '$each':
      return renderEach(argument, scope);
    case '$merge':
      return renderMerge(argument, scope);
    case '$json':
      return renderJson(argument, scope);
    case '$html':
      return renderHtml(argument, scope);
    case '$base64':
    case '$base64url':
      return renderBase64(name === '$base64' ? 'base64' : 'base64url', argument, scope);
    case '$file': {
      const value = ownOrAbsent(scope.input, String(argument));
      return value === ABSENT ? ABSENT : counted(filesOf(String(argument), value, scope.files), scope);
    }
    case '$file_info':
      return renderFileInfo(argument, scope);
    case '$email':
      return renderEmail(argument, scope);
  }
}

/** Adds the size of files to the budget, because a list can name the same stored file many times. */
function counted(files: FileContent | FileContent[], { budget }: TemplateScope): FileContent | FileContent[] {
  for (const { bytes } of [files].flat()) budget.bytes(bytes.length);
  return files;
}

function ownOrAbsent(values: Readonly<Record<string, unknown>>, name: string): unknown {
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  return value === undefined ? ABSENT : value;
}

function listInput(argument: unknown, scope: TemplateScope): { input: string; list: unknown[] | typeof ABSENT } {
  const input = String(isRecord(argument) ? argument['input'] : undefined);
  const list = ownOrAbsent(scope.input, input);
  if (list !== ABSENT && !Array.isArray(list)) throw inputProblem(input, 'must be a list');
  return { input, list: list as unknown[] | typeof ABSENT };
}

function renderJoin(argument: unknown, scope: TemplateScope): unknown {
  const { input, list } = listInput(argument, scope);
  if (list === ABSENT || list.length === 0) return ABSENT;
  const separator = String((argument as Record<string, unknown>)['separator'] ?? ',');
  return list
    .map((item) => {
      if (typeof item === 'object') throw inputProblem(input, 'must be a list of strings, numbers or booleans');
      const text = String(item);
      // An item that contains the separator would be split into two.
      if (text.includes(separator)) throw inputProblem(input, `must have items without ${JSON.stringify(separator)}`);
      scope.budget.bytes(text.length + separator.length);
      return text;
    })
    .join(separator);
}

function renderConcat(argument: unknown, scope: TemplateScope): unknown {
  const parts = (argument as unknown[]).map((part) => [part, renderTemplate(part, scope)] as const);
  if (parts.some(([, value]) => value === ABSENT)) return ABSENT;
  const texts = parts.map(([part, value]) => asText(value, part));
  for (const text of texts) scope.budget.bytes(text.length);
  return texts.join('');
}

function renderEach(argument: unknown, scope: TemplateScope): unknown {
  const { files, template } = argument as Record<string, unknown>;
  const list = files === undefined ? listInput(argument, scope).list : fileItems(String(files), scope);
  if (list === ABSENT) return ABSENT;
  return list.map((item) => renderTemplate(template, { ...scope, item })).filter((value) => value !== ABSENT);
}

/**
 * Merges several objects into one. Each member may occur only once, so that an input cannot replace a member that the
 * tool sets.
 */
function renderMerge(argument: unknown, scope: TemplateScope): unknown {
  const parts = (argument as unknown[])
    .map((part) => [part, renderTemplate(part, scope)] as const)
    .filter(([, value]) => value !== ABSENT);
  const merged = new Map<string, { part: unknown; member: unknown }>();
  for (const [part, value] of parts) {
    if (!isRecord(value)) throw inputProblem(inputNameOf(part), 'must be an object');
    for (const [key, member] of Object.entries(value)) {
      const before = merged.get(key);
      if (before) throw repeatedMember(key, part, before.part);
      merged.set(key, { part, member });
    }
  }
  if (parts.length === 0) return ABSENT;
  return Object.fromEntries([...merged].map(([key, { member }]) => [key, member]));
}

/** Creates the error for a member that occurs twice: two inputs set it, or an input object repeats it. */
function repeatedMember(key: string, part: unknown, before: unknown): Error {
  const [other, input] = [inputOfMember(before, key), inputOfMember(part, key)];
  if (other !== undefined && input !== undefined) return inputProblem(input, `must be left out if ${other} is given`);
  return inputProblem(inputNameOf(part), `must not have the member ${key}`);
}

/** Returns the input that a member of a template comes from, if the template names the member. */
function inputOfMember(part: unknown, key: string): string | undefined {
  return directiveOf(part) || !isRecord(part) ? undefined : inputNameOf(part[key]);
}

/** Returns a value as JSON text in ASCII, so that it can be used in a header. */
function renderJson(argument: unknown, scope: TemplateScope): unknown {
  const value = renderTemplate(argument, scope);
  if (value === ABSENT) return ABSENT;
  const text = JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  scope.budget.bytes(text.length);
  return text;
}

function renderHtml(argument: unknown, scope: TemplateScope): unknown {
  const value = renderTemplate(argument, scope);
  if (value === ABSENT) return ABSENT;
  const converted = markdownToHtml(asText(value, argument), scope.budget.markdown);
  if ('problem' in converted) throw inputProblem(inputNameOf(argument), converted.problem);
  scope.budget.bytes(converted.html.length);
  return converted.html;
}

/** Returns the files of an input as items for `$each`. Stored files get the same members as files given as base64. */
function fileItems(name: string, scope: TemplateScope): unknown[] | typeof ABSENT {
  const value = ownOrAbsent(scope.input, name);
  if (value === ABSENT) return ABSENT;
  return [counted(filesOf(name, value, scope.files), scope)].flat().map((file) => ({
    file_name: file.name,
    mime_type: file.mediaType ?? OCTETS,
    content_base64: file,
  }));
}

/** Returns a property of a file, for example its size. Some APIs require it before the content. */
function renderFileInfo(argument: unknown, scope: TemplateScope): unknown {
  const { input, member } = argument as { input: string; member: FileMember };
  const value = ownOrAbsent(scope.input, input);
  if (value === ABSENT) return ABSENT;
  const file = filesOf(input, value, scope.files);
  if (Array.isArray(file)) throw inputProblem(input, 'must be one file');
  if (member === 'content_range') return wholeRange(file.bytes.length);
  return file.summary()[member];
}

/** Returns a Content-Range that contains a whole file (RFC 9110 §14.4). An empty file has no range. */
function wholeRange(size: number): string {
  return size === 0 ? 'bytes */0' : `bytes 0-${size - 1}/${size}`;
}

function renderBase64(encoding: 'base64' | 'base64url', argument: unknown, scope: TemplateScope): unknown {
  const value = renderTemplate(argument, scope);
  if (value === ABSENT) return ABSENT;
  const bytes = value instanceof FileContent ? value.bytes : Buffer.from(asText(value, argument), 'utf8');
  scope.budget.bytes(bytes.length);
  return bytes.toString(encoding);
}

function renderEmail(argument: unknown, scope: TemplateScope): string {
  const members = argument as Record<string, unknown>;
  const parts = EMAIL_MEMBERS.filter((member) => Object.hasOwn(members, member)).flatMap((member) => {
    const value = renderTemplate(members[member], scope);
    return value === ABSENT ? [] : [[member, { value, input: inputNameOf(members[member]) }] as const];
  });
  return buildEmail(Object.fromEntries(parts));
}

function asText(value: unknown, template: unknown): string {
  if (typeof value === 'object') throw inputProblem(inputNameOf(template), 'must be a string, number or boolean');
  return String(value);
}

/** Returns the name of the input that a template directly refers to, for errors; undefined if it refers to none. */
export function inputNameOf(template: unknown): string | undefined {
  const directive = directiveOf(template);
  if (directive?.name === '$input' || directive?.name === '$file') return String(directive.argument);
  if (directive?.name === '$html') return inputNameOf(directive.argument);
  const { name, argument } = directive ?? {};
  const input = isRecord(argument) && (name === '$join' || name === '$each') ? argument['input'] : undefined;
  return typeof input === 'string' ? input : undefined;
}
