import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { BrandInput } from '../core/environments/brand.ts';
import { UsageError } from './usage-error.ts';

/** The options of `valetkey environments set` for what users see on the pages of links; an empty value clears one. */
export const BRAND_OPTIONS = {
  'application-name': { type: 'string' },
  logo: { type: 'string' },
  'accent-color': { type: 'string' },
  'support-url': { type: 'string' },
  'privacy-url': { type: 'string' },
  'terms-url': { type: 'string' },
} as const;

export const BRAND_USAGE =
  '[--application-name <name>] [--logo <file>] [--accent-color <#rrggbb>] [--support-url <address>] [--privacy-url <address>] [--terms-url <address>]';

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.svg': 'image/svg+xml',
};

/** @throws UsageError */
export function readBrandOptions(values: { readonly [option in keyof typeof BRAND_OPTIONS]?: string }): BrandInput {
  const name = values['application-name'];
  if (name !== undefined && (name.length > 60 || /\p{Cc}/u.test(name)))
    throw new UsageError('--application-name must have at most 60 characters');
  const color = values['accent-color'];
  if (color && !/^#[0-9a-f]{6}$/i.test(color)) throw new UsageError('--accent-color must be written as #rrggbb');
  const given: BrandInput = {
    application_name: name,
    logo: values.logo && dataUrlOf(values.logo),
    accent_color: color,
    support_url: values['support-url'],
    privacy_url: values['privacy-url'],
    terms_url: values['terms-url'],
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
