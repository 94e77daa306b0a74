import type { ErrorObject } from 'ajv';
import { ApiError, type FieldError } from '../errors.ts';
import { dotted } from './field-path.ts';

const MAX_ERRORS = 20;
const UNKNOWN = 'unknown field';

/** Creates the error for an input that does not match its schema, with at most 20 entries, one for each problem. */
export function inputErrors(problems: readonly ErrorObject[]): ApiError {
  const errors = problems.slice(0, MAX_ERRORS).map(fieldError);
  const [first] = errors;
  const detail = first ? detailOf(first) : 'tool_input is invalid';
  return new ApiError('INVALID_TOOL_INPUT', detail, { errors });
}

function detailOf({ field, message }: FieldError): string {
  return message === UNKNOWN ? `${UNKNOWN} ${field}` : `${field} ${message}`;
}

function fieldError({ instancePath, keyword, params, message }: ErrorObject): FieldError {
  const path = dotted(instancePath, 'tool_input');
  switch (keyword) {
    case 'required':
      return { field: `${path}.${params['missingProperty']}`, message: 'is required' };
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return {
        field: `${path}.${params['additionalProperty'] ?? params['unevaluatedProperty']}`,
        message: UNKNOWN,
      };
    case 'enum':
      return {
        field: path,
        message: `must be one of ${(params['allowedValues'] as unknown[]).map(String).join(', ')}`,
      };
    default:
      return { field: path, message: message ?? 'is invalid' };
  }
}
