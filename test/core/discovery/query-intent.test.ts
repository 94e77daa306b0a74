import { expect } from 'chai';
import { rankTools } from '../../../core/discovery/rank-tools.ts';
import { createToolIndex } from '../../../core/discovery/tool-index.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { ownTool } from '../../support/own-tools.ts';

describe('the intent of a query', () => {
  const first = (query: string, ...tools: Tool[]) => {
    const index = createToolIndex();
    for (const tool of tools) index.put(tool, 'Acme');
    return rankTools([index], query)[0]?.card.name;
  };
  const made = (read_only: boolean) => (name: string) =>
    ownTool('acme', name, {
      title: 'Campaign board order',
      description: '',
      tags: ['x'],
      hints: { read_only, destructive: false, idempotent: read_only, open_world: true },
    });
  const [reads, writes] = [made(true), made(false)];

  it('prefers a tool for several things if the query has the plural, and for one thing if it has the singular', () => {
    const tools = [reads('acme_view_order'), reads('acme_view_orders')];
    expect(first('the orders', ...tools)).to.equal('acme_view_orders');
    expect(first('the order', ...tools)).to.equal('acme_view_order');
  });

  it('takes no number from a word that the query has in both', () => {
    const tools = [reads('acme_a_orders'), reads('acme_b_order')];
    expect(first('orders like this order', ...tools)).to.equal(first('orders like this order', ...tools.toReversed()));
    expect(first('orders like this order', ...tools)).to.equal('acme_a_orders');
  });

  it('prefers tools that write if the query orders something, and tools that read if it asks', () => {
    const tools = [reads('acme_look_order'), writes('acme_zap_order')];
    expect(first('send order', ...tools)).to.equal('acme_zap_order');
    expect(first('is order sent', ...tools)).to.equal('acme_look_order');
  });

  it('prefers tools about people if the query asks who', () => {
    const tools = [reads('acme_view_board'), reads('acme_view_board_members')];
    expect(first('board', ...tools)).to.equal('acme_view_board');
    expect(first('who is on the board', ...tools)).to.equal('acme_view_board_members');
  });

  it('prefers reports if the query asks how something did, and tools that count if it asks how many', () => {
    const tools = [reads('acme_get_campaign'), reads('acme_get_campaign_report'), reads('acme_count_campaign_clicks')];
    expect(first('campaign', ...tools)).to.equal('acme_get_campaign');
    expect(first('how did the campaign do', ...tools)).to.equal('acme_get_campaign_report');
    expect(first('campaign clicks how many', ...tools)).to.equal('acme_count_campaign_clicks');
  });
});
