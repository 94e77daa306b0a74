import { expect } from 'chai';
import { readContents } from '../../../core/mcp/upstream/content-results.ts';

const times = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => make(index));

describe('lists and contents of third-party MCP servers', () => {
  it('have at most 1,000 items on a page, and are returned with the number of the others', () => {
    const list = (count: number) =>
      readContents('resources/list', { resources: times(count, (index) => ({ uri: `a:${index}`, name: 'a' })) });
    expect(list(1_000)).to.include({ omitted: 0 });
    const long = list(33_000) as { items: object[]; omitted: number };
    expect(long.items).to.have.length(1_000);
    expect(long.omitted).to.equal(32_000);
  });

  it('are refused whole with more than 1,000 contents or messages', () => {
    const contents = (count: number) => ({ contents: times(count, (index) => ({ uri: `a:${index}`, text: 'a' })) });
    expect(readContents('resources/read', contents(1_000))).to.deep.equal(contents(1_000));
    expect(readContents('resources/read', contents(1_001))).to.equal(null);
    const message = { role: 'user', content: { type: 'text', text: 'a' } };
    const messages = (count: number) => ({ messages: times(count, () => message) });
    expect(readContents('prompts/get', messages(1_000))).to.deep.equal(messages(1_000));
    expect(readContents('prompts/get', messages(1_001))).to.equal(null);
  });

  it('leave out a prompt with more than 100 arguments', () => {
    const prompt = (count: number) => ({ name: 'a', arguments: times(count, (index) => ({ name: `${index}` })) });
    const read = readContents('prompts/list', { prompts: [prompt(100), prompt(101)] });
    expect(read).to.deep.include({ items: [prompt(100)] });
  });

  it('name each audience once', () => {
    const annotations = { audience: ['assistant', ...times(90_000, () => 'user'), 'root'] };
    const read = readContents('resources/list', { resources: [{ uri: 'a:b', name: 'a', annotations }] });
    expect(read).to.deep.include({
      items: [{ uri: 'a:b', name: 'a', annotations: { audience: ['user', 'assistant'] } }],
    });
  });
});
