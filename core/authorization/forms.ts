import type { FieldError } from '../errors.ts';

type Values = Readonly<Record<string, unknown>>;

/** One object of `authorization_details`: the name of the form, and what its fields are. */
export interface DetailsForm {
  name: string;
  /** The fields that may be shown without the right to read credentials. */
  shown: readonly string[];
  /** The fields that the service alone uses: the contract has no place for them. */
  internal?: readonly string[];
  /** The shown fields that the service obtained and can obtain again; `all` when the form holds nothing else then. */
  obtained?: readonly string[] | 'all';
  /** Whether an account can be used with these values. */
  isUsable(value: Values, apiConfig: Values): boolean;
  /** What is wrong with the values; the names of fields are those of the form. */
  problemsOf?(value: Values, apiConfig: Values): FieldError[];
}

/** A token, given or granted. */
export const OAUTH_TOKEN: DetailsForm = {
  name: 'oauth_token',
  shown: ['scopes', 'domain'],
  internal: ['token_secret'],
  obtained: 'all',
  isUsable: ({ access_token: access, refresh_token: refresh }) => isText(access) || isText(refresh),
};

/** Typed fields. The pattern of the account says which there are, which are shown and which are required. */
export const STATIC_AUTH: DetailsForm = {
  name: 'static_auth',
  shown: [],
  isUsable: ({ details }) => typeof details === 'object' && details !== null && Object.keys(details).length > 0,
};

export function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
