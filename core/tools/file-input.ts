import { decodeBase64, FileContent } from './file-content.ts';
import { inputProblem } from './input-problem.ts';
import { isRecord } from './pointer.ts';
import { type JsonSchema, type Tool, wholeInputSchema } from './tool.ts';

/** The format that marks an input, or the items of a list input, as a file. */
export const FILE_FORMAT = 'file';

/** The stored files that a call names in `file_id`, by their ids. */
export type StoredFiles = ReadonlyMap<string, FileContent>;

/** The pattern of the ids of stored files. */
const FILE_ID = '^file_[0-9a-hjkmnp-tv-z]{26}$';
const MEDIA_TYPE =
  "^[A-Za-z0-9!#$&^_.+-]{1,127}/[A-Za-z0-9!#$&^_.+-]{1,127}( *; *[A-Za-z0-9_-]{1,40}=[A-Za-z0-9!#$&'^_.+-]{1,100}){0,4}$";

/**
 * Returns the schema of file inputs, which is the same for all tools: either the bytes in base64, or the id of a stored
 * file. `filesOf` checks that exactly one of these is given, because several model APIs reject `oneOf` in a schema.
 *
 * @param description what the tool does with the file
 */
export function fileInputSchema(description: string): JsonSchema {
  return {
    type: 'object',
    format: FILE_FORMAT,
    description,
    additionalProperties: false,
    properties: {
      file_name: {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        description: 'The name of the file, with its extension.',
      },
      mime_type: {
        type: 'string',
        maxLength: 255,
        pattern: MEDIA_TYPE,
        description: 'The media type, for example image/png.',
      },
      content_base64: { type: 'string', description: 'The bytes in base64. Set either this or file_id.' },
      file_id: {
        type: 'string',
        pattern: FILE_ID,
        description: 'The file_id of an earlier response. Set either this or content_base64.',
      },
    },
  };
}

/** Whether a schema is that of a file input, or of a list of files. */
export function isFileSchema(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  return schema['format'] === FILE_FORMAT || (isRecord(schema['items']) && schema['items']['format'] === FILE_FORMAT);
}

/**
 * Returns the file or list of files in an input.
 *
 * @param stored the stored files that the call names; undefined while a call is only checked, and then a stored file
 * counts as empty
 * @throws ApiError INVALID_TOOL_INPUT
 */
export function filesOf(name: string, value: unknown, stored: StoredFiles | undefined): FileContent | FileContent[] {
  if (Array.isArray(value)) return value.map((item, index) => fileOf(`${name}[${index}]`, item, stored));
  return fileOf(name, value, stored);
}

function fileOf(field: string, value: unknown, stored: StoredFiles | undefined): FileContent {
  if (!isRecord(value)) throw inputProblem(field, 'must be a file: an object with content_base64 or file_id');
  const { content_base64: content, file_id: id } = value;
  if ((content === undefined) === (id === undefined)) {
    throw inputProblem(field, 'must have exactly one of content_base64 and file_id');
  }
  const mediaType = textOf(value['mime_type']);
  const fileName = textOf(value['file_name']);
  if (id !== undefined) {
    const held = stored === undefined ? new FileContent('file', undefined, Buffer.alloc(0)) : stored.get(String(id));
    if (held === undefined)
      throw inputProblem(`${field}.file_id`, 'is not a file of this account, or it has been deleted');
    return new FileContent(fileName ?? held.name, mediaType ?? held.mediaType, held.bytes);
  }
  const bytes = typeof content === 'string' ? decodeBase64(content) : undefined;
  if (bytes === undefined) throw inputProblem(`${field}.content_base64`, 'must be base64');
  return new FileContent(fileName ?? 'file', mediaType, bytes);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const fileInputs = new WeakMap<JsonSchema, readonly string[]>();

/** Returns the names of a tool's file inputs. */
function fileInputsOf(tool: Tool): readonly string[] {
  const schema = wholeInputSchema(tool);
  const known = fileInputs.get(schema);
  if (known) return known;
  const properties = isRecord(schema['properties']) ? schema['properties'] : {};
  const names = Object.keys(properties).filter((name) => isFileSchema(properties[name]));
  fileInputs.set(schema, names);
  return names;
}

/** Returns the ids of the stored files that an input refers to, each with the path of its field. */
export function storedFileIds(tool: Tool, input: Readonly<Record<string, unknown>>): { field: string; id: string }[] {
  return fileInputsOf(tool).flatMap((name) => {
    const value = input[name];
    const items: [string, unknown][] = Array.isArray(value)
      ? value.map((item, index) => [`${name}[${index}]`, item])
      : [[name, value]];
    return items.flatMap(([field, item]) => {
      const id = isRecord(item) ? item['file_id'] : undefined;
      return typeof id === 'string' ? [{ field: `${field}.file_id`, id }] : [];
    });
  });
}
