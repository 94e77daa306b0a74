import { createWriteStream, rmSync } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Command } from '@commander-js/extra-typings';
import { openApi, streamOf } from '../../api/client.ts';
import { SERVER } from '../../api/options.ts';
import { escapeJsonLines } from '../../output/json.ts';
import { examples, note } from '../../output/print.ts';

/**
 * `valetkey audit export`: the whole audit log as JSON lines, one hash chain after the other, each with its oldest
 * record first.
 */
export function configure(command: Command): void {
  command
    .option('--output <file>', 'write to a new file, which only you can read, instead of standard output')
    .option('--json', 'no effect: the output is always JSON lines')
    .addOption(SERVER)
    .addHelpText(
      'after',
      examples('audit export --output audit.jsonl', 'audit export | jq -r .action | sort | uniq -c'),
    )
    .action(async (options) => {
      const call = openApi(options).GET('/api/v1/audit_events:export', { parseAs: 'stream' });
      const texts = (await streamOf(call)).pipeThrough(new TextDecoderStream());
      if (options.output === undefined) {
        for await (const text of texts) await write(process.stdout, text);
        return;
      }
      const file = createWriteStream(options.output, { flags: 'wx', mode: 0o600 });
      let records = 0;
      try {
        for await (const text of texts) {
          records += text.split('\n').length - 1;
          await write(file, text);
        }
        file.end();
        await finished(file);
      } catch (error) {
        file.destroy();
        // A file that already existed is not removed, because nothing was written to it.
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(options.output, { force: true });
        throw error;
      }
      note`Exported ${records} records to ${options.output}.`;
    });
}

/** Writes a text with escaped control characters, and waits until the stream has accepted it. */
async function write(stream: NodeJS.WritableStream, text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    stream.write(escapeJsonLines(text), (error) => (error ? reject(error) : resolve()));
  });
}
