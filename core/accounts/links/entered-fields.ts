import { secretFieldsOf, staticFieldsOf } from '../../authorization/fields.ts';
import { checkAllowedBase, NOT_ALLOWED } from '../../connections/allowed-addresses.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import type { AuthField } from '../../connectors/auth-pattern.ts';
import { checkAccountInputs } from '../../connectors/base-url.ts';
import { checkAccountFields, checkStaticDetails } from '../../connectors/static-details.ts';
import { ApiError, type FieldError } from '../../errors.ts';
import { type JsonObject, mergeConfig } from '../merge.ts';
import { declaredBinding, type LinkContext } from './link-context.ts';

/** A field of a link's form: part of the account's configuration or of its credentials. */
export interface FormField extends AuthField {
  part: 'config' | 'credentials';
  /** The value is masked while the user types, and it is not shown afterwards. */
  isSecret: boolean;
}

/** The values that a user entered, by field name. */
export type EnteredValues = Readonly<Record<string, string>>;

export interface ReadForm {
  /** The account's configuration, including the entered values. */
  apiConfig: JsonObject;
  /** Only the entered values of the configuration. */
  change: JsonObject;
  credentials: JsonObject;
}

/** The kinds of invalid values; the page describes them in the user's language. */
export type EntryProblem = 'required' | 'format' | 'choice' | 'too_long' | 'control' | 'address';

export type FormResult = { ok: true; form: ReadForm } | { ok: false; problems: Readonly<Record<string, EntryProblem>> };

/** Returns the fields of a link's form; none if consent is all that is needed. */
export function formFieldsOf({ pattern, completion, accountFields }: LinkContext): FormField[] {
  const config = accountFields.map((field) => ({ ...field, part: 'config' as const, isSecret: false }));
  if (completion === 'consent') return config;
  const secret = secretFieldsOf(pattern);
  const entered = staticFieldsOf(pattern).map((field) => ({
    ...field,
    part: 'credentials' as const,
    isSecret: secret.has(field.field_name),
  }));
  return [...config, ...entered];
}

/**
 * Reads and checks the entered values. Space around a value is removed, because users copy it along with a key.
 *
 * @returns one problem per invalid field
 * @throws ApiError INVALID_API_CONFIG if a value that the application set is invalid, because the user cannot correct
 * it
 */
export function readForm(link: LinkContext, entered: EnteredValues): FormResult {
  const { pattern, provider, account, connection } = link;
  const fields = formFieldsOf(link);
  const valuesOf = (part: FormField['part']): JsonObject => {
    const own = fields.filter((field) => field.part === part);
    const given = own.map((field) => [field.field_name, (entered[field.field_name] ?? '').trim()] as const);
    return Object.fromEntries(given.filter(([, value]) => value !== ''));
  };
  const change = valuesOf('config');
  const credentials = valuesOf('credentials');
  const apiConfig = mergeConfig(account.apiConfig, change, 'api_config');
  const missing = fields.filter((field) => field.part === 'config' && field.required && !(field.field_name in change));
  const inputs = accountInputs(pattern, apiConfig, credentials);
  const errors: FieldError[] = [
    ...missing.map((field) => ({ field: field.field_name, message: 'is required' })),
    ...checkAccountFields(pattern, apiConfig),
    ...(link.completion === 'form' ? checkStaticDetails(pattern, credentials) : []),
    ...checkAccountInputs(provider, inputs),
  ];
  if (errors.length === 0) errors.push(...checkAllowedBase(connection, provider, inputs));
  if (errors.length === 0) return { ok: true, form: { apiConfig, change, credentials } };
  return { ok: false, problems: problemsByField(fields, errors) };
}

/**
 * Returns a text that describes what a link page asks for and where the values go. A submitted form is accepted only if
 * this text has not changed since the page was shown. Otherwise a value that was entered as a secret could be stored as
 * public, or be sent elsewhere.
 */
export function formTerms(link: LinkContext): string {
  const fields = formFieldsOf(link).map(({ field_name: name, part, isSecret }) => [name, part, isSecret]);
  const { origins, binding } = declaredBinding(link, link.account.apiConfig);
  return JSON.stringify([link.pattern.type, fields, origins, binding.base, binding.use]);
}

/** Returns the values that a form with errors may show again: those that are not secret. */
export function redisplayableValues(link: LinkContext, entered: EnteredValues): EnteredValues {
  const shown = formFieldsOf(link).filter((field) => !field.isSecret);
  return Object.fromEntries(shown.map(({ field_name: name }) => [name, entered[name] ?? '']));
}

function problemsByField(fields: FormField[], errors: FieldError[]): Record<string, EntryProblem> {
  const problems: Record<string, EntryProblem> = Object.create(null);
  for (const { field, message } of errors) {
    const name = field.split('.').at(-1) ?? '';
    // The application set this value wrongly, and the user cannot correct it.
    if (!fields.some(({ field_name }) => field_name === name)) {
      throw new ApiError(
        'INVALID_API_CONFIG',
        `The configuration of the account does not match its provider: ${field} ${message}.`,
      );
    }
    problems[name] ??= problemOf(message);
  }
  return problems;
}

/**
 * The beginnings of error messages, with the kinds of problems that they report. The messages are written for
 * developers; users see a text for each kind instead.
 */
const PROBLEMS: readonly [string, EntryProblem][] = [
  ['is required', 'required'],
  ['must be one of', 'choice'],
  ['must have at most', 'too_long'],
  ['must not contain control characters', 'control'],
  [NOT_ALLOWED, 'address'],
];

function problemOf(message: string): EntryProblem {
  return PROBLEMS.find(([beginning]) => message.startsWith(beginning))?.[1] ?? 'format';
}
