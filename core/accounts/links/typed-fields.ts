import { secretFieldsOf, staticFieldsOf } from '../../authorization/fields.ts';
import { checkAllowedBase, NOT_ALLOWED } from '../../connections/allowed-addresses.ts';
import { accountInputs } from '../../connectors/account-inputs.ts';
import type { AuthField } from '../../connectors/auth-pattern.ts';
import { checkAccountInputs } from '../../connectors/base-url.ts';
import { checkAccountFields, checkStaticDetails } from '../../connectors/static-details.ts';
import { ApiError, type FieldError } from '../../errors.ts';
import { type JsonObject, mergeConfig } from '../merge.ts';
import { declaredBinding, type LinkContext } from './link-context.ts';

/** A field of the form of a link: one of the account's configuration, or of its credentials. */
export interface FormField extends AuthField {
  part: 'config' | 'credentials';
  /** Its value is not shown again, nor while it is typed. */
  isSecret: boolean;
}

/** What a person typed, by field name. */
export type Typed = Readonly<Record<string, string>>;

export interface ReadForm {
  /** The account's configuration with what was typed. */
  apiConfig: JsonObject;
  /** What of it was typed. */
  change: JsonObject;
  credentials: JsonObject;
}

export type FormResult = { ok: true; form: ReadForm } | { ok: false; problems: Readonly<Record<string, string>> };

/** The fields that a person has to fill in to finish a link; none where consenting is all. */
export function formFieldsOf({ pattern, completion, accountFields }: LinkContext): FormField[] {
  const config = accountFields.map((field) => ({ ...field, part: 'config' as const, isSecret: false }));
  if (completion === 'consent') return config;
  const secret = secretFieldsOf(pattern);
  const typed = staticFieldsOf(pattern).map((field) => ({
    ...field,
    part: 'credentials' as const,
    isSecret: secret.has(field.field_name),
  }));
  return [...config, ...typed];
}

/**
 * Reads and checks what was typed. Space around a value is not part of it: it comes along when a key is copied.
 *
 * @returns one problem per field, as a sentence without its subject
 */
export function readForm(link: LinkContext, typed: Typed): FormResult {
  const { pattern, provider, account, connection } = link;
  const fields = formFieldsOf(link);
  const valuesOf = (part: FormField['part']): JsonObject => {
    const own = fields.filter((field) => field.part === part);
    const given = own.map((field) => [field.field_name, (typed[field.field_name] ?? '').trim()] as const);
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
 * What the page of a link asks for, and what it would do with it. A form counts only while this is the same as when it was shown: what
 * was asked for as a secret must not be stored as anything else, nor be sent elsewhere.
 */
export function formTerms(link: LinkContext): string {
  const fields = formFieldsOf(link).map(({ field_name: name, part, isSecret }) => [name, part, isSecret]);
  const { origins, binding } = declaredBinding(link, link.account.apiConfig);
  return JSON.stringify([link.pattern.type, fields, origins, binding.base, binding.use]);
}

/** Values that may be shown again in a form with errors: those that are not secret. */
export function echoOf(link: LinkContext, typed: Typed): Typed {
  const shown = formFieldsOf(link).filter((field) => !field.isSecret);
  return Object.fromEntries(shown.map(({ field_name: name }) => [name, typed[name] ?? '']));
}

function problemsByField(fields: FormField[], errors: FieldError[]): Record<string, string> {
  const problems: Record<string, string> = Object.create(null);
  for (const { field, message } of errors) {
    const name = field.split('.').at(-1) ?? '';
    // A value that the application itself has set wrongly is nothing that the person could correct.
    if (!fields.some(({ field_name }) => field_name === name)) {
      throw new ApiError('INVALID_API_CONFIG', 'The configuration of the account does not match its provider.');
    }
    problems[name] ??= forPeople(message);
  }
  return problems;
}

/** Patterns and settings of connections are for those who wrote them; a field has a hint for those who type. */
function forPeople(message: string): string {
  if (message.startsWith('must match the pattern')) return 'has an invalid format';
  return message === NOT_ALLOWED ? 'is not an allowed address' : message;
}
