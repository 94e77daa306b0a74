import { MCP_UPSTREAM } from '../../budgets.ts';
import { isRecord } from '../../tools/pointer.ts';
import { cleanText, hasHiddenText } from './clean-text.ts';

/** A value of the protocol: a resource, a prompt, or the content of one. */
export type Content = Record<string, unknown>;

/** One page of a list of resources, resource templates or prompts. */
export interface ListedContents {
  /** The items that follow the protocol, with cleaned texts, up to a maximum. Invalid items are left out. */
  items: Content[];
  /** How many items were left out because the page exceeds the maximum number of items. */
  omitted: number;
  /** The size of the items as JSON, in bytes. */
  bytes: number;
  nextCursor: string | undefined;
}

type Read = (given: Content) => Content | undefined;

const MAX_TITLE = 200;
const MAX_PROMPT_NAME = 128;
const MAX_MEDIA_TYPE = 200;
const ROLES = ['user', 'assistant'];

/**
 * Returns the part of a result about resources or prompts that clients receive. The texts of the third-party server are
 * untrusted (threat P6). In display names, titles and descriptions, hidden characters are removed and lengths are
 * limited. An item whose URI or prompt name has hidden characters is invalid. Contents are data, so they are not
 * changed.
 *
 * @returns null if the result does not have the form that the method requires; undefined for other methods
 */
export function readContents(method: string, result: Content): ListedContents | Content | null | undefined {
  switch (method) {
    case 'resources/list':
      return readList(result, 'resources', (given) => resource(given, 'uri'));
    case 'resources/templates/list':
      return readList(result, 'resourceTemplates', (given) => resource(given, 'uriTemplate'));
    case 'prompts/list':
      return readList(result, 'prompts', prompt);
    case 'resources/read':
      return whole(result['contents'], resourceContents, (contents) => ({ contents }));
    case 'prompts/get':
      return whole(result['messages'], message, (messages) => ({ ...described(result), messages }));
    default:
      return undefined;
  }
}

function readList(result: Content, member: string, read: Read): ListedContents | null {
  const { [member]: list, nextCursor } = result;
  if (!Array.isArray(list)) return null;
  const items = list.slice(0, MCP_UPSTREAM.contents).flatMap((item: unknown): Content[] => {
    const kept = isRecord(item) ? read(item) : undefined;
    return kept ? [kept] : [];
  });
  const next = typeof nextCursor === 'string' && nextCursor.length <= MCP_UPSTREAM.cursorChars ? nextCursor : undefined;
  const omitted = Math.max(0, list.length - MCP_UPSTREAM.contents);
  return { items, omitted, bytes: Buffer.byteLength(JSON.stringify(items)), nextCursor: next };
}

/**
 * Reads a list that is kept completely or not at all, because a part of a resource or prompt would be misleading.
 *
 * @returns null if an item is invalid or the list has too many items
 */
function whole(list: unknown, read: Read, result: (items: Content[]) => Content): Content | null {
  if (!Array.isArray(list) || list.length > MCP_UPSTREAM.contents) return null;
  const items = list.map((item: unknown) => (isRecord(item) ? read(item) : undefined));
  return items.every((item) => item !== undefined) ? result(items) : null;
}

function resource(given: Content, address: 'uri' | 'uriTemplate'): Content | undefined {
  const uri = name(given[address], MCP_UPSTREAM.uriChars);
  if (uri === undefined) return undefined;
  const { size } = given;
  const shown = cleanText(textOf(given['name']) ?? '', MAX_TITLE) || cleanText(uri, MAX_TITLE);
  return {
    [address]: uri,
    name: shown,
    ...described(given),
    ...mediaType(given),
    ...(typeof size === 'number' && { size }),
    ...annotations(given),
  };
}

function prompt(given: Content): Content | undefined {
  const named = name(given['name'], MAX_PROMPT_NAME);
  if (named === undefined) return undefined;
  const { arguments: list = [] } = given;
  if (!Array.isArray(list) || list.length > MCP_UPSTREAM.promptArguments) return undefined;
  const read = list.map((argument: unknown) => (isRecord(argument) ? promptArgument(argument) : undefined));
  if (!read.every((argument) => argument !== undefined)) return undefined;
  return { name: named, ...described(given), ...(read.length > 0 && { arguments: read }) };
}

function promptArgument(given: Content): Content | undefined {
  const named = name(given['name'], MAX_PROMPT_NAME);
  if (named === undefined) return undefined;
  return { name: named, ...described(given), ...(given['required'] === true && { required: true }) };
}

function message({ role, content }: Content): Content | undefined {
  if (!ROLES.includes(role as string)) return undefined;
  const read = isRecord(content) ? contentBlock(content) : undefined;
  return read && { role, content: read };
}

function contentBlock(given: Content): Content | undefined {
  const { type, text, data, resource: embedded } = given;
  const notes = annotations(given);
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text, ...notes } : undefined;
    case 'image':
    case 'audio': {
      const media = mediaType(given);
      return typeof data === 'string' && 'mimeType' in media ? { type, data, ...media, ...notes } : undefined;
    }
    case 'resource_link': {
      const link = resource(given, 'uri');
      return link && { type, ...link };
    }
    case 'resource': {
      const contents = isRecord(embedded) ? resourceContents(embedded) : undefined;
      return contents && { type, resource: contents, ...notes };
    }
    default:
      return undefined;
  }
}

function resourceContents(given: Content): Content | undefined {
  const uri = name(given['uri'], MCP_UPSTREAM.uriChars);
  const { text, blob } = given;
  if (uri === undefined) return undefined;
  if (typeof text === 'string') return { uri, ...mediaType(given), text };
  return typeof blob === 'string' ? { uri, ...mediaType(given), blob } : undefined;
}

function described({ title, description }: Content): Content {
  const shown = cleanText(textOf(title) ?? '', MAX_TITLE);
  const words = cleanText(textOf(description) ?? '', MCP_UPSTREAM.descriptionChars);
  return { ...(shown !== '' && { title: shown }), ...(words !== '' && { description: words }) };
}

function mediaType({ mimeType }: Content): { mimeType?: string } {
  const type = name(mimeType, MAX_MEDIA_TYPE);
  return type === undefined ? {} : { mimeType: type };
}

/** Returns the annotations `audience` and `priority`, if they are valid. Other annotations are left out. */
function annotations({ annotations: given }: Content): Content {
  if (!isRecord(given)) return {};
  const { audience, priority } = given;
  const roles = Array.isArray(audience) ? ROLES.filter((role) => audience.includes(role)) : [];
  const isPriority = typeof priority === 'number' && priority >= 0 && priority <= 1;
  const kept = { ...(roles.length > 0 && { audience: roles }), ...(isPriority && { priority }) };
  return Object.keys(kept).length > 0 ? { annotations: kept } : {};
}

/**
 * Returns a text that must not be changed, such as a URI that clients send back. It is undefined if the text is empty,
 * too long or has hidden characters.
 */
function name(value: unknown, maxLength: number): string | undefined {
  const text = textOf(value);
  return text && text.length <= maxLength && !hasHiddenText(text) ? text : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
