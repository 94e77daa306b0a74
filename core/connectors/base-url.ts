import { ApiError, type FieldError } from '../errors.ts';
import { mayContainDotSegment } from '../tools/path-segment.ts';
import type { AccountInputs } from './account-value.ts';
import { accountValueProblem } from './account-value.ts';
import {
  AddressValueError,
  addressPlaces,
  fillAddress,
  placeProblem,
  withoutTrailingSlash,
} from './address-template.ts';
import type { ProviderDefinition } from './provider.ts';
import { atSite } from './sites.ts';

export const API_CONFIG_PATH = 'connected_account.api_config';

/**
 * Returns the address that tool paths are appended to.
 *
 * @param provider its `proxyUrl` is used if `proxyEnabled` is true; otherwise the `base_url` of its API, or the account
 * value that `base_url_input` names
 * @returns an absolute address without a trailing slash, as normalized by the URL parser
 * @throws ApiError PROVIDER_HAS_NO_BASE_URL; INVALID_API_CONFIG if an account value is missing or does not fit
 */
export function baseUrlOf(provider: ProviderDefinition, inputs: AccountInputs): string {
  const template = baseTemplateOf(provider);
  if (template !== undefined) return filled(template, inputs);
  if (provider.api.base_url_input === undefined) {
    const detail = `The provider ${provider.identifier} has no base URL. Set proxy_url and proxy_enabled of the provider.`;
    throw new ApiError('PROVIDER_HAS_NO_BASE_URL', detail);
  }
  return givenBase(provider.api.base_url_input, inputs[provider.api.base_url_input]);
}

/**
 * Returns one of a provider's addresses at the site of the account, with its placeholders filled.
 *
 * @throws ApiError INVALID_API_CONFIG if an account value is missing or does not fit; AddressError if the template is
 * invalid
 */
export function filled(template: string, inputs: AccountInputs): string {
  try {
    return fillAddress(atSite(template, inputs), inputs);
  } catch (error) {
    if (error instanceof AddressValueError) throw invalid(error.field, error.message);
    throw error;
  }
}

/**
 * Checks the given account values against their places in the provider's base address, and against the rules of the
 * consent flow. Missing values are reported later, when an address is used.
 */
export function checkAccountInputs(provider: ProviderDefinition, inputs: AccountInputs): FieldError[] {
  const errors: FieldError[] = [];
  const base = provider.api.base_url_input;
  if (base !== undefined && inputs[base] !== undefined) {
    const problem = givenBaseProblem(inputs[base]);
    if (problem) errors.push({ field: `${API_CONFIG_PATH}.${base}`, message: problem });
  }
  errors.push(...checkConsentValues(provider, inputs));
  const template = baseTemplateOf(provider);
  for (const place of template === undefined ? [] : addressPlaces(atSite(template, inputs))) {
    const value = inputs[place.field];
    const problem = value === undefined ? undefined : placeProblem(place, value);
    if (problem) errors.push({ field: `${API_CONFIG_PATH}.${place.field}`, message: problem });
  }
  return errors;
}

/** Checks values that a consent flow normally sets, because a caller can also set them. */
function checkConsentValues(provider: ProviderDefinition, inputs: AccountInputs): FieldError[] {
  const rules = provider.authPatterns.flatMap((pattern) => pattern.oauth_config?.account_values ?? []);
  return rules.flatMap((rule) => {
    const value = Object.hasOwn(inputs, rule.name) ? inputs[rule.name] : undefined;
    const problem = value === undefined ? undefined : accountValueProblem(rule, value);
    return problem === undefined ? [] : [{ field: `${API_CONFIG_PATH}.${rule.name}`, message: problem }];
  });
}

/** Returns the base address as the provider defines it; undefined if the account supplies it, or there is none. */
export function baseTemplateOf(provider: ProviderDefinition): string | undefined {
  return provider.proxyEnabled && provider.proxyUrl ? provider.proxyUrl : provider.api.base_url;
}

/** Reads a base address that the account supplies. The egress policy decides later whether plain http is allowed. */
function givenBase(field: string, value: string | undefined): string {
  if (value === undefined || value === '') throw invalid(field, 'is required: it is the base URL');
  const problem = givenBaseProblem(value);
  if (problem) throw invalid(field, problem);
  return withoutTrailingSlash(new URL(value));
}

function givenBaseProblem(value: string): string | undefined {
  const url = URL.parse(value);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return 'must be an https URL';
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (value.includes('?') || value.includes('#')) return 'must not have a query or a fragment';
  // If the URL parser changed the path (dot segments, backslashes), requests would use a different prefix than the one
  // that was entered.
  const path = /^https?:\/\/[^/]+(.*)$/i.exec(value)?.[1];
  const isPlain =
    (path || '/') === url.pathname && !/%2f|%5c|%2e/i.test(url.pathname) && !mayContainDotSegment(url.pathname);
  if (!isPlain) return 'must not have dot segments or encoded characters in its path';
  return undefined;
}

function invalid(field: string, message: string): ApiError {
  return new ApiError('INVALID_API_CONFIG', `The value ${field} in api_config of the account ${message}`, {
    errors: [{ field: `${API_CONFIG_PATH}.${field}`, message }],
  });
}
