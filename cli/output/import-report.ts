import type { presentImport } from '../../core/imports/present-import.ts';
import { LEFT_OUT_REASONS, NOTE_KINDS } from '../../core/openapi-conversion/report.ts';
import { shown } from './print.ts';

/** Describes an import for people: what changes, what is left out, and which credentials the API requires. */
export function describeImport({ applied, provider, changes, report }: ReturnType<typeof presentImport>): string {
  const { added, changed, removed, unchanged } = changes;
  const marked = (mark: string, names: readonly string[]) => names.map((name) => shown`${mark} ${name}`);
  const counted = (counts: Readonly<Record<string, number>>, word: string, texts: Readonly<Record<string, string>>) =>
    Object.entries(counts).map(([reason, count]) => {
      // A newer server may return a reason that this program does not know.
      const text = Object.hasOwn(texts, reason) ? `. ${texts[reason]}` : '';
      return shown`  ${count} ${word}: ${reason}${text}`;
    });
  const parked =
    provider.accounts_parked > 0
      ? [`${provider.accounts_parked} accounts must be authorized again: the address changed.`]
      : [];
  return [
    ...marked('+', added),
    ...marked('~', changed),
    ...marked('-', removed),
    '',
    `${report.imported} of ${report.operations} operations: ${added.length} added, ${changed.length} changed, ${removed.length} removed, ${unchanged} as before.`,
    ...counted(report.left_out_counts, 'left out', LEFT_OUT_REASONS),
    ...counted(report.note_counts, 'noted', NOTE_KINDS),
    ...report.credentials.map(
      ({ scheme, type, detail }) => shown`Credential ${scheme}: ${type ?? 'omitted'}. ${detail}`,
    ),
    ...report.warnings.map((warning) => shown`Note: ${warning}`),
    shown`Provider ${provider.identifier} ${provider.action}: ${provider.base_url} (${provider.authorization_types.join(', ')}).`,
    ...parked,
    applied ? 'Stored.' : 'Nothing was stored: this was a dry run. --json shows the whole report.',
  ].join('\n');
}
