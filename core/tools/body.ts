import { renderBodyTemplate, type TemplateScope } from './body-template.ts';
import { FileContent, OCTETS } from './file-content.ts';
import { encodeForm } from './form.ts';
import { inputProblem } from './input-problem.ts';
import { encodeMultipart } from './multipart.ts';
import type { CursorValue } from './pagination.ts';
import { isRecord, withPointer } from './pointer.ts';
import { RenderBudget } from './render-budget.ts';
import type { Tool, ToolBody } from './tool.ts';

/** A rendered body. */
export interface RenderedBody {
  /** The Content-Type header. */
  type: string;
  content: string | Buffer;
  /** The body as it is shown to users, for example by a dry run. */
  preview: unknown;
}

type Members = readonly (readonly [string, string])[];

/**
 * Renders the body of a call.
 *
 * @param at the position of the requested page; undefined for the first page
 * @param credential the members that the credential adds to the body. A call without a body gets a JSON body for them
 * @returns undefined if the request has no body
 * @throws ApiError INVALID_TOOL_INPUT, also if the body or the method does not allow the members of the credential
 */
export function renderBody(
  tool: Tool,
  scope: TemplateScope,
  at: CursorValue | undefined,
  credential: Members,
): RenderedBody | undefined {
  const stated: ToolBody = tool.request.body ?? { format: 'none' };
  const { format } = stated;
  let value = format === 'none' ? undefined : renderBodyTemplate(stated.value, scope);
  const { request } = tool.pagination ?? {};
  if (at !== undefined && request?.in === 'body') value = withPointer(value, request.name, at);
  if (credential.length > 0) value = withCredential(tool, value, credential);
  if (value === undefined) return undefined;
  switch (format) {
    case 'raw':
      return rawBody(value, stated.media_type);
    case 'form': {
      const text = encodeForm(isRecord(value) ? value : {}, stated.lists, new RenderBudget());
      return { type: 'application/x-www-form-urlencoded', content: text, preview: text };
    }
    case 'multipart': {
      const { type, bytes, preview } = encodeMultipart(isRecord(value) ? value : {}, stated.parts, new RenderBudget());
      return { type, content: bytes, preview };
    }
    default:
      new RenderBudget().value(value);
      return { type: stated.media_type ?? 'application/json', content: JSON.stringify(value), preview: value };
  }
}

function withCredential({ request: { method, body } }: Tool, value: unknown, credential: Members): unknown {
  if (method === 'GET' || method === 'HEAD') {
    throw inputProblem(
      undefined,
      'cannot be sent: the credential belongs in the body, which this method does not have',
    );
  }
  const plain = !(value instanceof FileContent) && body?.format !== 'raw';
  if (!plain || (value !== undefined && !isRecord(value))) {
    throw inputProblem(undefined, 'must be an object: the credential is added to it');
  }
  return { ...value, ...Object.fromEntries(credential) };
}

/** Renders the bytes of a file, or a text without conversion. */
function rawBody(value: unknown, mediaType: string | undefined): RenderedBody {
  const stated = mediaType?.includes('*') ? undefined : mediaType;
  if (value instanceof FileContent) {
    return { type: stated ?? value.mediaType ?? OCTETS, content: value.bytes, preview: value.summary() };
  }
  if (typeof value === 'object') throw inputProblem(undefined, 'must be a string or one file: it is the whole body');
  return { type: stated ?? 'text/plain; charset=utf-8', content: String(value), preview: String(value) };
}
