import type { FieldError } from '../errors.ts';

type Values = Readonly<Record<string, unknown>>;

/** One form of `authorization_details`: its name and the rules of its fields. */
export interface DetailsForm {
  name: string;
  /** The fields that clients without the scope credentials:read may see. */
  shown: readonly string[];
  /** The fields that only Valetkey uses; the contract does not contain them. */
  internal?: readonly string[];
  /**
   * The shown fields that are removed together with the tokens that Valetkey obtained; `all`: every field of the form.
   */
  obtained?: readonly string[] | 'all';
  /** Whether an account with these values can make calls. */
  isUsable(value: Values, apiConfig: Values): boolean;
  /** Returns what is wrong with the values. Field names are relative to the form. */
  problemsOf?(value: Values, apiConfig: Values): FieldError[];
}

/** A token that the caller supplied or the provider granted. */
export const OAUTH_TOKEN: DetailsForm = {
  name: 'oauth_token',
  shown: ['scopes', 'domain'],
  internal: ['token_secret'],
  obtained: 'all',
  isUsable: ({ access_token: access, refresh_token: refresh }) => isText(access) || isText(refresh),
};

/**
 * Fields that a user enters. The pattern of the account determines which exist, which may be shown and which are
 * required.
 */
export const STATIC_AUTH: DetailsForm = {
  name: 'static_auth',
  shown: [],
  isUsable: ({ details }) => typeof details === 'object' && details !== null && Object.keys(details).length > 0,
};

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
