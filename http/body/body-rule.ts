import type { Operation } from 'openapi-backend';
import { REQUEST_BODY } from '../../core/budgets.ts';

/** How the body of a request is read. */
export interface BodyRule {
  /** `none` rejects a body. */
  format: 'json' | 'form' | 'none';
  /** The largest body, in bytes. */
  maxBytes: number;
  /** JSON larger than this number of bytes is parsed in a thread. */
  threadBytes: number;
  /** The maximum number of chunks of a body. */
  maxChunks: number;
  /** The maximum number of parameters of a form. */
  maxPairs: number;
  /** The parameters of a form that are read; others are ignored. null to read all of them. */
  parameters: ReadonlySet<string> | null;
}

/** The rule for JSON bodies of requests that are not operations of the contract. The other rules extend it. */
export const JSON_BODY: BodyRule = {
  format: 'json',
  maxBytes: REQUEST_BODY.bytes,
  threadBytes: REQUEST_BODY.threadBytes,
  maxChunks: REQUEST_BODY.chunks,
  maxPairs: 0,
  parameters: null,
};

/** A form on a page of this server. */
export const PAGE_FORM: BodyRule = {
  ...JSON_BODY,
  format: 'form',
  maxChunks: REQUEST_BODY.formChunks,
  maxPairs: REQUEST_BODY.formPairs,
};

/**
 * Returns the body rule of an operation. The contract defines it: the media type, `x-valetkey-max-body-bytes`, and the
 * parameters of a form.
 */
export function bodyRuleOf(operation: Operation): BodyRule {
  const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { schema?: FormSchema }> };
  const stated = (operation as { 'x-valetkey-max-body-bytes'?: number })['x-valetkey-max-body-bytes'];
  const rule = { ...JSON_BODY, maxBytes: stated ?? REQUEST_BODY.bytes };
  if (!content) return { ...rule, format: 'none' };
  if ('application/json' in content) return rule;
  const [form] = Object.values(content);
  const parameters = new Set(Object.keys(form?.schema?.properties ?? {}));
  return { ...rule, format: 'form', maxChunks: REQUEST_BODY.formChunks, maxPairs: REQUEST_BODY.tokenPairs, parameters };
}

interface FormSchema {
  properties?: Record<string, unknown>;
}
