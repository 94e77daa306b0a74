import { expect } from 'chai';
import { createLogger } from '../../http/monitoring/log.ts';
import { createRequestLog } from '../../http/monitoring/request-log.ts';

const TIME = /"time":"[^"]+"/;

function linesAt(level: string, place: number | null = null) {
  const lines: string[] = [];
  const log = createLogger(level, { write: (line) => lines.push(line) }, { place });
  return { log, lines, request: createRequestLog(log, () => Date.UTC(2026, 0, 2, 3, 4, 5, 6)) };
}

describe('the log line of a request', () => {
  it('is equal to that of the logger', () => {
    const { log, lines, request } = linesAt('info');
    for (const id of ['req_01jd', 'trace-1.a_B', '"}\n{"level":60', 'ü\u2028']) {
      request('listConnections', 200, 12.3456, id);
      log.info({ operation: 'listConnections', status: 200, ms: 12.35, request_id: id }, 'request');
      const [ours, theirs] = lines.splice(0);
      expect(ours?.match(TIME)?.[0]).to.equal('"time":"2026-01-02T03:04:05.006Z"');
      expect(ours?.replace(TIME, '')).to.equal(theirs?.replace(TIME, ''));
    }
  });

  it('names the process, if several serve one address, as every other line does', () => {
    const { log, lines, request } = linesAt('info', 2);
    request('listConnections', 200, 12.35, 'req_1');
    log.info({ operation: 'listConnections', status: 200, ms: 12.35, request_id: 'req_1' }, 'request');
    const [ours, theirs] = lines;
    expect(JSON.parse(ours ?? '')).to.have.property('process', 2);
    expect(ours?.replace(TIME, '')).to.equal(theirs?.replace(TIME, ''));
  });

  it('is omitted if the level says so, from the moment that it is set', () => {
    const { log, lines, request } = linesAt('warn');
    request('listConnections', 200, 1, 'req_1');
    expect(lines).to.deep.equal([]);
    log.level = 'debug';
    request('listConnections', 200, 1, 'req_1');
    expect(lines).to.have.length(1);
  });

  it('is not written by a silent logger', () => {
    const { lines, request } = linesAt('silent');
    request('listConnections', 200, 1, 'req_1');
    expect(lines).to.deep.equal([]);
  });
});
