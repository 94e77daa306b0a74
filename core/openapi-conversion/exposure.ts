import { isCallerHeader } from '../connectors/header-names.ts';
import type { Parameter } from './parameters.ts';
import { requiredOf, type SchemaReader } from './schema-view.ts';

/**
 * How a parameter is handled: the caller sets it (`offer`), it is always sent with the same value (`fix`), or it is not
 * sent (`hide`).
 */
export type Exposure = { kind: 'offer' } | { kind: 'fix'; value: unknown } | { kind: 'hide'; why: string };

/** The rules in `x-tool-params` of an overlay. They refer to parameters by their names in requests. */
export interface ParameterRules {
  hide: ReadonlySet<string>;
  show: ReadonlySet<string>;
  fix: Readonly<Record<string, unknown>>;
}

/** Headers that describe the format or the transport of a message. Valetkey sets them itself. */
const PROTOCOL_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'content-length',
  'host',
  'user-agent',
  'cookie',
]);

/** Parameters that concern the transport, not the operation. */
const NOISE = new Set([
  'prettyprint',
  'callback',
  'alt',
  'fields',
  '$.xgafv',
  'quotauser',
  'userip',
  'upload_protocol',
  'uploadtype',
]);

const CREDENTIAL_NAMES =
  /^(x[-_])?(authorization|api[-_]?key|access[-_]?token|oauth[-_]?token|auth[-_]?token|client[-_]?secret)$/i;

/** The parts of an AWS signature; the signer sets them. */
const SIGNATURE_NAMES =
  /^x-amz-(content-sha256|date|algorithm|credential|security-token|signature|signedheaders|expires)$/i;

/** Whether a parameter contains a credential, according to its name or to a security scheme. */
export function isCredential(parameter: Parameter, schemeNames: ReadonlySet<string>): boolean {
  if (schemeNames.has(`${parameter.in} ${parameter.name.toLowerCase()}`)) return true;
  return parameter.in !== 'path' && (CREDENTIAL_NAMES.test(parameter.name) || SIGNATURE_NAMES.test(parameter.name));
}

/**
 * Determines how a parameter is handled. Cookies, credentials, protocol headers, and optional parameters that concern
 * the transport or are deprecated are hidden. A required parameter with a single allowed value is fixed. An overlay can
 * fix, hide or show other parameters; it can also fix a credential or a protocol header, but not show it.
 *
 * @param schemeNames places and names of the document's apiKey schemes, for example `query key`
 */
export function exposureOf(
  parameter: Parameter,
  schemeNames: ReadonlySet<string>,
  rules: ParameterRules,
  read: SchemaReader,
): Exposure {
  const { name, in: place } = parameter;
  const lower = name.toLowerCase();
  if (place === 'cookie') return { kind: 'hide', why: 'a cookie' };
  if (Object.hasOwn(rules.fix, name) && place !== 'path') return { kind: 'fix', value: rules.fix[name] };
  if (isCredential(parameter, schemeNames)) return { kind: 'hide', why: 'a credential' };
  if (place === 'path') return { kind: 'offer' };
  if (place === 'header' && (PROTOCOL_HEADERS.has(lower) || !isCallerHeader(name)))
    return { kind: 'hide', why: 'a protocol header' };
  if (rules.show.has(name)) return { kind: 'offer' };
  if (rules.hide.has(name)) return { kind: 'hide', why: 'by an overlay' };
  const only = onlyValue(parameter, read);
  if (parameter.required && only !== undefined) return { kind: 'fix', value: only };
  if (!parameter.required && place === 'query' && NOISE.has(lower)) return { kind: 'hide', why: 'a transport option' };
  if (!parameter.required && parameter.deprecated) return { kind: 'hide', why: 'deprecated' };
  return { kind: 'offer' };
}

function onlyValue({ schema, contentType }: Parameter, read: SchemaReader): unknown {
  const view = read(schema) ?? {};
  const values = Object.hasOwn(view, 'const') ? [view['const']] : view['enum'];
  const [only] = Array.isArray(values) ? values : [];
  const plain = ['string', 'number', 'boolean'].includes(typeof only) && contentType === undefined;
  return plain && Array.isArray(values) && values.length === 1 && requiredOf(view).size === 0 ? only : undefined;
}
