import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withPages } from '../../api/options.ts';
import { readPages } from '../../api/pages.ts';
import { examples, printResult } from '../../output/print.ts';
import { table } from '../../output/table.ts';

/** `valetkey audit list`: who did what, newest first. */
export function configure(command: Command): void {
  withPages(
    command
      .option('--actor <name>', 'records of this actor: an API client, an operator, or system')
      .option('--action <action>', 'records of this action, such as connected_account.credentials_read')
      .option('--subject <id>', 'records about this account, connection or other subject')
      .option('--from <time>', 'records of this time (RFC 3339) or later')
      .option('--before <time>', 'records before this time'),
  )
    .addHelpText(
      'after',
      examples(
        'audit list',
        'audit list --action connected_account.credentials_read --subject ca_01k6p4a2b3c4d5e6f7g8h9j0km',
      ),
    )
    .action(async (options) => {
      const api = openApi(options);
      const { actor, action, subject, from, before } = options;
      const filters = { actor, action, subject_id: subject, created_from: from, created_before: before };
      const records = await readPages(options, async (page) => {
        const body = await resultOf(api.GET('/api/v1/audit_events', { params: { query: { ...filters, ...page } } }));
        return { ...body, items: body.audit_events };
      });
      printResult(options, records, () =>
        table(
          {
            TIME: ({ created_at }) => created_at,
            ACTOR: ({ actor }) => actor,
            ACTION: ({ action }) => action,
            SUBJECT: ({ subject_id }) => subject_id,
            REQUEST: ({ request_id }) => request_id,
          },
          records,
        ),
      );
    });
}
