import { expect } from 'chai';
import type { Tool } from '../../core/tools/tool.ts';
import { openCatalogue, readRecorded, renderAll } from '../../scripts/catalogue-requests.ts';

describe('the requests of tools', () => {
  const catalogue = openCatalogue();
  const recorded = readRecorded();
  const rendered = renderAll(catalogue);

  it('are recorded for every tool with an example', () => {
    expect([...recorded.keys()].sort()).to.deep.equal([...rendered.keys()].sort());
    const names = [...recorded.values()]
      .flatMap((text) => text.trimEnd().split('\n\n'))
      .map((each) => each.split('\n')[0]);
    const expected = catalogue.toolNames().filter((name) => (catalogue.peek(name)?.examples.length ?? 0) > 0);
    expect(names.sort()).to.deep.equal([...expected].sort());
  });

  it('change with the method, the path, a header or the body of a tool (control)', () => {
    const name = 'github_create_issue';
    const tool = catalogue.peek(name) as Tool;
    const { request } = tool;
    const changes: Partial<Tool['request']>[] = [
      { method: 'PUT' },
      { path: `${request.path}/x` },
      { headers: { 'x-new': 'yes' } },
      { body: { format: 'json', value: { title: 'another' } } },
    ];
    for (const change of changes) {
      const changed = { ...tool, request: { ...request, ...change } };
      const other = { ...catalogue, peek: (wanted: string) => (wanted === name ? changed : catalogue.peek(wanted)) };
      expect(renderAll(other).get('github'), JSON.stringify(change)).not.to.equal(recorded.get('github'));
    }
  });

  for (const [connector, text] of rendered) {
    it(`of ${connector} are equal to the recorded ones; \`make catalogue-requests\` records them again`, () => {
      expect(text).to.equal(recorded.get(connector));
    });
  }
});
