import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { BrandInput } from '../../../core/environments/brand.ts';
import { UsageError } from '../../usage-error.ts';

/** The options of `valetkey environments set` for what users see on the pages of links; an empty value removes one. */
export interface BrandOptions {
  applicationName?: string | undefined;
  logo?: string | undefined;
  accentColor?: string | undefined;
  supportUrl?: string | undefined;
  privacyUrl?: string | undefined;
  termsUrl?: string | undefined;
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.svg': 'image/svg+xml',
};

/** Converts the options to the fields of the API. @throws UsageError if the value of an option is invalid */
export function readBrandOptions(values: BrandOptions): BrandInput {
  const name = values.applicationName;
  if (name !== undefined && (name.length > 60 || /\p{Cc}/u.test(name)))
    throw new UsageError('--application-name must have at most 60 characters, and no control characters');
  const color = values.accentColor;
  if (color && !/^#[0-9a-f]{6}$/i.test(color)) throw new UsageError('--accent-color must be written as #rrggbb');
  const given: BrandInput = {
    application_name: name,
    logo: values.logo && dataUrlOf(values.logo),
    accent_color: color,
    support_url: values.supportUrl,
    privacy_url: values.privacyUrl,
    terms_url: values.termsUrl,
  };
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries.map(([field, value]) => [field, value === '' ? null : value]));
}

function dataUrlOf(file: string): string {
  const mediaType = MEDIA_TYPES[extname(file).toLowerCase()];
  if (mediaType === undefined) throw new UsageError('--logo must be a .png, .jpg or .svg file');
  try {
    return `data:${mediaType};base64,${readFileSync(file).toString('base64')}`;
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}
