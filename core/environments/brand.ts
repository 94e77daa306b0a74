import type { EnvironmentRow, EnvironmentSettings, Transaction } from '../../db/store.ts';
import { ApiError, type FieldError } from '../errors.ts';
import { readLogo } from './logo.ts';

/** The fields of a request that changes what users see on pages, named as in the contract; `null` clears a field. */
export interface BrandInput {
  application_name?: string | null | undefined;
  logo?: string | null | undefined;
  accent_color?: string | null | undefined;
  support_url?: string | null | undefined;
  privacy_url?: string | null | undefined;
  terms_url?: string | null | undefined;
}

const ADDRESSES = { support_url: ['https://', 'mailto:'], privacy_url: ['https://'], terms_url: ['https://'] } as const;
const LOOPBACK = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]/;

/** Returns what is wrong with the addresses and the logo of a request. */
export function brandProblems(input: BrandInput): FieldError[] {
  const names = Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[];
  const errors = names.flatMap((name): FieldError[] => {
    const value = input[name];
    if (typeof value !== 'string') return [];
    const url = URL.parse(value);
    const begins: readonly string[] = ADDRESSES[name];
    if (
      url &&
      !url.username &&
      !url.password &&
      (begins.some((begin) => value.toLowerCase().startsWith(begin)) || LOOPBACK.test(value))
    )
      return [];
    return [
      {
        field: name,
        message: `must be a URL that begins with ${begins.join(' or ')}, without a user name or password`,
      },
    ];
  });
  const logo = input.logo ? readLogo(input.logo) : undefined;
  return logo && 'problem' in logo ? [...errors, { field: 'logo', message: logo.problem }] : errors;
}

/** Returns the branding settings after a request, for which `brandProblems` must have returned no errors. */
export function changedBrand(settings: EnvironmentSettings, input: BrandInput): EnvironmentSettings {
  const logo = input.logo ? readLogo(input.logo) : undefined;
  const chosen = <T>(given: T | null | undefined, before: T | undefined) =>
    given === undefined ? before : (given ?? undefined);
  return {
    applicationName: chosen(input.application_name, settings.applicationName),
    accentColor: chosen(input.accent_color?.toLowerCase() ?? input.accent_color, settings.accentColor),
    supportUrl: chosen(input.support_url, settings.supportUrl),
    privacyUrl: chosen(input.privacy_url, settings.privacyUrl),
    termsUrl: chosen(input.terms_url, settings.termsUrl),
    logoDigest: input.logo === undefined ? settings.logoDigest : logo && 'digest' in logo ? logo.digest : undefined,
  };
}

/**
 * Stores or removes the logo of a request.
 *
 * @param at milliseconds UTC
 * @throws ApiError VALIDATION_FAILED if the logo is invalid
 */
export async function storeLogo(
  tx: Pick<Transaction, 'environmentLogos'>,
  { id }: Pick<EnvironmentRow, 'id'>,
  { logo: dataUrl }: BrandInput,
  at: number,
): Promise<void> {
  if (dataUrl === undefined) return;
  if (dataUrl === null) {
    await tx.environmentLogos.delete(id);
    return;
  }
  const logo = readLogo(dataUrl);
  if ('problem' in logo) {
    const errors = [{ field: 'logo', message: logo.problem }];
    throw new ApiError('VALIDATION_FAILED', 'The settings of the environment are invalid.', { errors });
  }
  await tx.environmentLogos.set(id, { mediaType: logo.mediaType, bytes: logo.bytes, updatedAt: at });
}

/** Returns the address of an environment's logo; null if it has none. The address changes with the logo. */
export function logoUrl({ baseUrl, settings }: Pick<EnvironmentRow, 'baseUrl' | 'settings'>): string | null {
  return settings.logoDigest === undefined ? null : `${baseUrl}/connect/brand/logo?v=${settings.logoDigest}`;
}
