import { ApiError } from '../../../../core/errors.ts';

export function run(): never {
  throw new ApiError('INVALID_DOCUMENT', 'It cannot be read.', { errors: [{ field: 'files', message: 'are bad' }] });
}
