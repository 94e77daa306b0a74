import type { Format } from 'ajv';
import { fastFormats, fullFormats } from 'ajv-formats/dist/formats.js';
import { timeOf } from '../../core/text/rfc3339.ts';

const dateTime = fullFormats['date-time'] as { validate(text: string): boolean };

/** The formats of JSON Schema and of OpenAPI, by name. The generated validators read them here. */
export const REQUEST_FORMATS: Record<string, Format> = {
  ...fullFormats,
  'date-time': { ...dateTime, validate: (text: string) => dateTime.validate(text) && !Number.isNaN(timeOf(text)) },
  int32: { type: 'number', validate: signedInteger(32) },
  int64: { type: 'number', validate: signedInteger(64) },
  float: { type: 'number', validate: Number.isFinite },
  double: { type: 'number', validate: Number.isFinite },
  password: true,
};

/** The server itself creates the times in responses, so checking their form is enough. */
export const RESPONSE_FORMATS: Record<string, Format> = {
  ...REQUEST_FORMATS,
  'date-time': fastFormats['date-time'],
};

function signedInteger(bits: number): (value: number) => boolean {
  const limit = 2 ** (bits - 1);
  return (value) => Number.isInteger(value) && value >= -limit && value < limit;
}
