import { expect } from 'chai';
import { createLogger } from '../../http/monitoring/log.ts';
import { describeLogLine } from '../../http/monitoring/log-text.ts';

/** Logs something, and returns the log line as readable text. */
function shown(write: (log: ReturnType<typeof createLogger>) => void, hasColours = false): string {
  let json = '';
  write(createLogger('trace', { write: (line) => (json += line) }, { now: () => 0 }));
  return describeLogLine(json, hasColours).replace(/^\S+/, 'TIME');
}

describe('the log format for terminals', () => {
  it('has the time of day, the level, the message and the fields', () => {
    expect(describeLogLine('{"level":30,"time":"2026-11-23T08:09:10.123Z","msg":"listening"}', false)).to.equal(
      '08:09:10.123 info  listening\n',
    );
    expect(
      shown((log) => log.warn({ origin: 'http://a.test', hosts: ['a', 'b'], name: 'two words' }, 'a message')),
    ).to.equal('TIME warn  a message origin=http://a.test hosts=["a","b"] name="two words"\n');
  });

  it('has the stack of an error and its causes below', () => {
    const text = shown((log) => log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed'));
    const lines = text.split('\n');
    expect(lines.slice(0, 2)).to.deep.equal(['TIME error failed', '  Error: outer']);
    expect(lines).to.include('  TypeError: inner');
    expect(shown((log) => log.error({ err: 'text' }, 'failed'))).to.equal('TIME error failed\n');
  });

  it('has colours only if requested', () => {
    const write = (log: ReturnType<typeof createLogger>) => log.error('failed');
    expect(shown(write)).not.to.include('\u001b');
    expect(shown(write, true)).to.include('\u001b[31merror\u001b[39m');
  });
});
