import { type AuthField, isSecretField } from '../connectors/auth-pattern.ts';

/**
 * Returns the field that contains the only credential of a type: of the fields that the pattern does not place
 * elsewhere, the one with the conventional name, otherwise the first secret one, otherwise the first one. Returns
 * undefined if the pattern places all fields elsewhere.
 *
 * @param usual the conventional field name
 */
export function onlyCredentialField(fields: readonly AuthField[], usual: string): AuthField | undefined {
  const candidates = fields.filter((field) => !field.placement && !field.is_path_param);
  return candidates.find((field) => field.field_name === usual) ?? candidates.find(isSecretField) ?? candidates[0];
}

export function namesOf(field: AuthField | undefined): string[] {
  return field ? [field.field_name] : [];
}
