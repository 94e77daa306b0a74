import { isRecord } from '../tools/pointer.ts';

/**
 * A reference to a further FHIR resource that was open in the clinical system, besides the patient and the encounter.
 */
export interface ContextItem {
  reference: string;
  role?: string;
}

/**
 * The launch context of a grant: the patient and other data that the user worked with when granting access. Its members
 * are named as in an account's API configuration.
 */
export interface LaunchContext {
  /** Id of the patient. */
  patient?: string;
  /** Id of the encounter. */
  encounter?: string;
  fhir_context?: ContextItem[];
  /** Whether the application must show the patient's identity. */
  need_patient_banner?: boolean;
  smart_style_url?: string;
  intent?: string;
  tenant?: string;
}

const NAMES = [
  'patient',
  'encounter',
  'fhir_context',
  'need_patient_banner',
  'smart_style_url',
  'intent',
  'tenant',
] as const satisfies readonly (keyof LaunchContext)[];

/** Ids become parts of addresses, so their characters are checked (FHIR R4 §2.24.0.1, "id"). */
const ID = /^[A-Za-z0-9.-]{1,64}$/;
const REFERENCE = /^[A-Z][A-Za-z]{1,63}\/[A-Za-z0-9.-]{1,64}$/;
const TEXT = /^[^\p{Cc}\p{Cs}]{1,500}$/u;
const MAX_ITEMS = 20;

/**
 * Reads the launch context from a token response (SMART App Launch 2.2, "Launch Context"). Values with an invalid
 * format are ignored.
 *
 * @param answer the JSON of the response
 */
export function readLaunchContext(answer: unknown): LaunchContext {
  if (!isRecord(answer)) return {};
  const context: Record<keyof LaunchContext, unknown> = {
    patient: matching(answer['patient'], ID),
    encounter: matching(answer['encounter'], ID),
    fhir_context: itemsIn(answer['fhirContext']),
    need_patient_banner: booleanIn(answer['need_patient_banner']),
    smart_style_url: addressIn(answer['smart_style_url']),
    intent: matching(answer['intent'], TEXT),
    tenant: matching(answer['tenant'], TEXT),
  };
  return Object.fromEntries(Object.entries(context).filter(([, value]) => value !== undefined));
}

/**
 * Returns the change of an account's API configuration after a user granted access. Missing values are cleared, so that
 * no patient of an earlier launch stays. Do not call this function after a refresh without a context, which must not
 * change the configuration.
 */
export function launchContextChange(context: LaunchContext): Record<keyof LaunchContext, unknown> {
  const entries = NAMES.map((name) => [name, context[name] ?? null]);
  return Object.fromEntries(entries) as Record<keyof LaunchContext, unknown>;
}

function matching(value: unknown, form: RegExp): string | undefined {
  return typeof value === 'string' && form.test(value) ? value : undefined;
}

/** Reads a boolean, which some servers send as text. */
function booleanIn(value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value;
  return value === 'true' || value === 'false' ? value === 'true' : undefined;
}

function addressIn(value: unknown): string | undefined {
  const url = typeof value === 'string' && value.length <= 2048 ? URL.parse(value) : null;
  return url?.protocol === 'https:' && url.username === '' && url.password === '' ? url.href : undefined;
}

function itemsIn(value: unknown): ContextItem[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const items = value.flatMap((item): ContextItem[] => {
    const reference = isRecord(item) ? matching(item['reference'], REFERENCE) : undefined;
    if (reference === undefined) return [];
    const role = matching((item as Record<string, unknown>)['role'], TEXT);
    return [{ reference, ...(role !== undefined && { role }) }];
  });
  return items.length === 0 || items.length > MAX_ITEMS ? undefined : items;
}
