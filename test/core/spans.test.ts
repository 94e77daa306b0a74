import { tracingChannel } from 'node:diagnostics_channel';
import { expect } from 'chai';
import { inSpan, SPANS, type SpanFacts } from '../../core/spans.ts';

const facts = (): SpanFacts => ({ name: 'work', kind: 'internal', attributes: {} });

describe('inSpan', () => {
  it('creates nothing while no subscriber records spans', async () => {
    let begun = 0;
    const begin = () => {
      begun++;
      return facts();
    };
    expect(await inSpan(begin, async () => 1)).to.equal(1);
    expect(begun).to.equal(0);
  });

  it('publishes the beginning and the end of work, with its result or its error', async () => {
    const channel = tracingChannel<unknown, SpanFacts>(SPANS);
    const seen: string[] = [];
    const note = (what: string) => (span: SpanFacts) => void seen.push(`${what} ${span.name} ${span.failure}`);
    const subscribers = {
      start: note('start'),
      asyncEnd: note('end'),
      error: note('error'),
      end() {},
      asyncStart() {},
    };
    channel.subscribe(subscribers);
    const works = async (span: SpanFacts) => {
      span.failure = 'timeout';
      return 2;
    };
    expect(await inSpan(facts, works)).to.equal(2);
    const error = new Error('no');
    const failed = await inSpan(facts, () => Promise.reject(error)).catch((thrown) => thrown);
    channel.unsubscribe(subscribers);
    expect(failed).to.equal(error);
    expect(seen).to.deep.equal([
      'start work undefined',
      'end work timeout',
      'start work undefined',
      'error work undefined',
      'end work undefined',
    ]);
  });
});
