import type { Command } from '@commander-js/extra-typings';
import { openApi, resultOf } from '../../api/client.ts';
import { withServer } from '../../api/options.ts';
import { examples, printResult } from '../../output/print.ts';
import { connectionId, describeConnection } from './find-connection.ts';

/** `valetkey connections show` */
export function configure(command: Command): void {
  withServer(command.argument('<connection>', 'the id or the name of the connection'))
    .addHelpText(
      'after',
      examples('connections show github', 'connections show conn_01k6p4a2b3c4d5e6f7g8h9j0km --json'),
    )
    .action(async (name, options) => {
      const api = openApi(options);
      const connection_id = (await connectionId(api, name)) ?? name;
      const { connection } = await resultOf(
        api.GET('/api/v1/connections/{connection_id}', { params: { path: { connection_id } } }),
      );
      printResult(options, connection, () => describeConnection(connection));
    });
}
