const MAX_PREFIX = 32;

/**
 * What the names of a provider's tools begin with: its identifier in the characters of a tool's name, and an underscore. A long
 * identifier is cut, so that room is left for what the tool does.
 *
 * @param identifier a connector's, or a custom provider's such as `acme-crm`
 * @returns for example `acme_crm_`
 */
export function toolPrefix(identifier: string): string {
  const plain = identifier.toLowerCase().replace(/[^a-z0-9]+/g, '_');
  const legal = /^[a-z]/.test(plain) ? plain : `x${plain}`;
  return `${legal.slice(0, MAX_PREFIX).replace(/_+$/, '')}_`;
}
