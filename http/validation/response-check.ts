import type { ValidateFunction } from 'ajv';
import type { Operation } from 'openapi-backend';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Reply } from '../contract.ts';
import { createAjv } from './ajv.ts';

interface MediaType {
  schema?: object;
}
type Responses = Record<string, { content?: Record<string, MediaType> }>;

/** Checks a response against the contract; returns null if it matches, otherwise the difference, for the log. */
export type ResponseCheck = (operation: Operation, reply: Reply) => string | null;

/**
 * Creates the check of responses by status and body. An undeclared status is always wrong. Validators are compiled at
 * the first response of their kind and kept.
 */
export function createResponseCheck(): ResponseCheck {
  const ajv = createAjv('response', 'first');
  const compiled = new Map<object, ValidateFunction>();
  return (operation, reply) => {
    const declared = (operation.responses as Responses | undefined)?.[String(reply.status)];
    if (!declared) return `status ${reply.status} is not declared`;
    const { content = {} } = declared;
    if (reply.body instanceof BinaryBody !== '*/*' in content) return 'bytes do not match the declared content';
    if (reply.body instanceof StreamedBody) {
      return Object.hasOwn(content, reply.headers['content-type'] ?? '') ? null : 'the media type is not declared';
    }
    if (reply.body instanceof BinaryBody) return null;
    const [media] = Object.values(content);
    if (!media?.schema) return reply.body === undefined ? null : 'a body is not declared';
    let validate = compiled.get(media.schema);
    if (!validate) {
      validate = ajv.compile(media.schema);
      compiled.set(media.schema, validate);
    }
    if (validate(reply.body)) return null;
    return ajv.errorsText(validate.errors, { separator: '; ' });
  };
}
