import type { Operation } from 'openapi-backend';
import { REQUEST_BODY } from '../core/budgets.ts';

/** How the body of a request is read. */
export interface BodyRule {
  /** `none` refuses a body. */
  format: 'json' | 'form' | 'none';
  /** The largest body, in bytes. */
  maxBytes: number;
  /** JSON above this size is parsed in a thread. */
  threadBytes: number;
  /** The most pieces that a body may come in. */
  maxPieces: number;
  /** The most parameters of a form. */
  maxPairs: number;
  /** The parameters of a form that are read, the others being ignored; null for all of them. */
  parameters: ReadonlySet<string> | null;
}

/** A JSON body outside the operations of the contract. */
export const JSON_BODY: BodyRule = {
  format: 'json',
  maxBytes: REQUEST_BODY.bytes,
  threadBytes: REQUEST_BODY.threadBytes,
  maxPieces: REQUEST_BODY.pieces,
  maxPairs: 0,
  parameters: null,
};

/** A form that a page of ours sends. */
export const PAGE_FORM: BodyRule = {
  ...JSON_BODY,
  format: 'form',
  maxPieces: REQUEST_BODY.formPieces,
  maxPairs: REQUEST_BODY.formPairs,
};

/** The rule that the contract states: the media type, `x-valetkey-max-body-bytes`, and the parameters of a form. */
export function bodyRuleOf(operation: Operation): BodyRule {
  const { content } = (operation.requestBody ?? {}) as { content?: Record<string, { schema?: FormSchema }> };
  const stated = (operation as { 'x-valetkey-max-body-bytes'?: number })['x-valetkey-max-body-bytes'];
  const rule = { ...JSON_BODY, maxBytes: stated ?? REQUEST_BODY.bytes };
  if (!content) return { ...rule, format: 'none' };
  if ('application/json' in content) return rule;
  const [form] = Object.values(content);
  const parameters = new Set(Object.keys(form?.schema?.properties ?? {}));
  return { ...rule, format: 'form', maxPieces: REQUEST_BODY.formPieces, maxPairs: REQUEST_BODY.tokenPairs, parameters };
}

interface FormSchema {
  properties?: Record<string, unknown>;
}
