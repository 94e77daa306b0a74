import type { ValidateFunction } from 'ajv';
import type { Operation } from 'openapi-backend';
import { BinaryBody } from '../../core/bodies/binary-body.ts';
import { StreamedBody } from '../../core/bodies/streamed-body.ts';
import type { Reply } from '../contract.ts';
import type { Validators } from './validators.ts';

interface MediaType {
  /** The name of the validator of the body. */
  schema?: { validator: string };
}
type Responses = Record<string, { content?: Record<string, MediaType> }>;

/**
 * Checks a response against the contract. Returns null if it matches, otherwise a description of the difference for the
 * log.
 */
export type ResponseCheck = (operation: Operation, reply: Reply) => string | null;

/**
 * Creates the check of responses by status and body. An undeclared status is always wrong. The content of a file or a
 * stream is not checked.
 */
export function createResponseCheck(validators: Validators): ResponseCheck {
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
    const validate = validators('responses')[media.schema.validator] as ValidateFunction;
    if (validate(reply.body)) return null;
    return (validate.errors ?? []).map(({ instancePath, message }) => `data${instancePath} ${message}`).join('; ');
  };
}
