import { type AuthField, isSecretField } from '../connectors/auth-pattern.ts';

/**
 * The field that carries the one credential of a type: the one with the usual name of the type, otherwise the first secret field that the
 * pattern does not place elsewhere.
 *
 * @param usual the field name that patterns of the type use by convention
 */
export function soleKey(fields: readonly AuthField[], usual: string): AuthField | undefined {
  const candidates = fields.filter((field) => !field.placement && !field.is_path_param);
  return candidates.find((field) => field.field_name === usual) ?? candidates.find(isSecretField) ?? candidates[0];
}

export function namesOf(field: AuthField | undefined): string[] {
  return field ? [field.field_name] : [];
}
