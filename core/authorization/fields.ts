import { type AuthField, type AuthPattern, isSecretField } from '../connectors/auth-pattern.ts';
import { STATIC_AUTH } from './forms.ts';
import { moduleOf } from './registry.ts';
import type { AuthorizationType } from './type.ts';

/** Whether the usual credentials of a type are fields that users enter (`static_auth`). */
export function isStaticType(type: AuthorizationType): boolean {
  return moduleOf(type).forms[0] === STATIC_AUTH;
}

/** The fields of `static_auth.details`: those of the pattern, or the default fields of its type. */
export function staticFieldsOf(pattern: AuthPattern): readonly AuthField[] {
  return pattern.fields ?? moduleOf(pattern.type).entered?.fields ?? [];
}

/**
 * The static fields of a pattern whose values are never shown: those of input type password or textarea, and the
 * credential itself regardless of its input type.
 */
export function secretFieldsOf(pattern: AuthPattern): ReadonlySet<string> {
  const fields = staticFieldsOf(pattern);
  const names = fields.filter(isSecretField).map((field) => field.field_name);
  return new Set([...names, ...(moduleOf(pattern.type).entered?.secretNames(fields) ?? [])]);
}
