import type { Command } from '@commander-js/extra-typings';
import { withServer } from '../../api/options.ts';
import { readApiSettings } from '../../api/settings.ts';
import { followEvents } from '../../api/stream.ts';
import { untilInterrupted } from '../../interrupt.ts';
import { toJson } from '../../output/json.ts';
import { examples, note, say } from '../../output/print.ts';

/** `valetkey events tail`: shows events as they happen, until it is interrupted. */
export function configure(command: Command): void {
  withServer(command.option('--type <prefix>', 'only types that begin with this, such as connected_account'))
    .addHelpText('after', examples('events tail', 'events tail --type connected_account --json'))
    .action(async ({ type: prefix = '', server, json }) => {
      const interrupted = (reason: string) => note`The stream was interrupted (${reason}). Connecting again.`;
      const settings = readApiSettings(process.env, server);
      for await (const { id, type, data } of followEvents(settings, untilInterrupted(), interrupted)) {
        if (!type.startsWith(prefix)) continue;
        if (json) process.stdout.write(`${toJson(JSON.parse(data), 0)}\n`);
        else say`${(JSON.parse(data) as { created_at: string }).created_at}  ${type}  ${id}`;
      }
    });
}
