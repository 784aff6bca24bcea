import { deepFreeze, type JsonObject } from '@contractrl/core';
import { describe, expect, test } from 'vitest';
import { retailShop } from './episodes.ts';
import { isWrite, RETAIL_TOOLS, type RetailTables, type ToolError } from './retail.ts';

const HOME = { address1: '1 Main St', address2: '', city: 'Oslo', country: 'Norway', state: 'OS', zip: '0150' };
const WORK = { ...HOME, address1: '2 Side St', zip: '0151' };
const item = (item_id: string, price: number): RetailTables['orders'][string]['items'][number] => ({ product_id: 'mug', item_id, price, options: { size: item_id } });
const order = (order_id: string, status: string, method: string, amount: number): RetailTables['orders'][string] => ({
  order_id, user_id: 'ann', address: HOME, status, items: [item('small', 4), item('small', 4), item('large', 7)], payment_history: [{ transaction_type: 'payment', amount, payment_method_id: method }],
});
const TABLES: RetailTables = deepFreeze({
  users: {
    ann: {
      user_id: 'ann', name: { first_name: 'Ann', last_name: 'Lee' }, address: HOME, email: 'Ann@x.org', orders: ['#1', '#2'],
      payment_methods: { gift: { source: 'gift_card', id: 'gift', balance: 5.5 }, card: { source: 'credit_card', id: 'card' }, paypal: { source: 'paypal', id: 'paypal' } },
    },
  },
  orders: { '#1': order('#1', 'pending', 'gift', 15), '#2': order('#2', 'delivered', 'card', 15), '#3': order('#3', 'pending (item modified)', 'card', 15) },
  products: {
    mug: {
      name: 'Mug', product_id: 'mug',
      variants: { small: variant('small', 4, true), large: variant('large', 7, true), huge: variant('huge', 9.99, true), gone: variant('gone', 5, false) },
    },
  },
});

function variant(item_id: string, price: number, available: boolean): RetailTables['products'][string]['variants'][string] {
  return { item_id, price, available, options: { size: item_id } };
}

function run(name: string, args: JsonObject): { readonly result: unknown; readonly tables: RetailTables } {
  const effect = RETAIL_TOOLS.get(name)!(TABLES, args);
  if (!effect.ok) throw new Error(effect.error);
  return effect.value;
}

const balanceOf = (tables: RetailTables): unknown => tables.users['ann']!.payment_methods['gift']!['balance'];

describe('tools that read', () => {
  test.each<[string, JsonObject, unknown]>([
    ['find_user_id_by_email', { email: 'ann@X.org' }, 'ann'],
    ['find_user_id_by_name_zip', { first_name: 'ann', last_name: 'LEE', zip: '0150' }, 'ann'],
    ['get_user_details', { user_id: 'ann' }, TABLES.users['ann']],
    ['get_order_details', { order_id: '#2' }, TABLES.orders['#2']],
    ['get_product_details', { product_id: 'mug' }, TABLES.products['mug']],
  ])('%s gives what is there and changes nothing', (name, args, expected) => {
    expect(isWrite(name)).toBe(false);
    const { result, tables } = run(name, args);
    expect(result).toEqual(expected);
    expect(tables).toBe(TABLES);
  });
});

describe('tools that change something', () => {
  test('a cancelled order is paid back, to a gift card at once', () => {
    const { tables } = run('cancel_pending_order', { order_id: '#1', reason: 'no longer needed' });
    expect(tables.orders['#1']).toMatchObject({ status: 'cancelled', cancel_reason: 'no longer needed', payment_history: [{ transaction_type: 'payment' }, { transaction_type: 'refund', amount: 15, payment_method_id: 'gift' }] });
    expect(balanceOf(tables)).toBe(20.5);
  });

  test('an address is put in the place of the old one', () => {
    expect(run('modify_pending_order_address', { order_id: '#3', ...WORK }).tables.orders['#3']!.address).toEqual(WORK);
    expect(run('modify_user_address', { user_id: 'ann', ...WORK }).tables.users['ann']!.address).toEqual(WORK);
  });

  test('another payment takes the amount and gives the first one back', () => {
    const { tables } = run('modify_pending_order_payment', { order_id: '#1', payment_method_id: 'card' });
    expect(tables.orders['#1']!.payment_history.slice(1)).toEqual([
      { transaction_type: 'payment', amount: 15, payment_method_id: 'card' }, { transaction_type: 'refund', amount: 15, payment_method_id: 'gift' },
    ]);
    expect(balanceOf(tables)).toBe(20.5);
  });

  test('changed items are replaced one for one, and the difference is paid', () => {
    const { tables } = run('modify_pending_order_items', { order_id: '#1', item_ids: ['small'], new_item_ids: ['large'], payment_method_id: 'gift' });
    expect(tables.orders['#1']!.items.map(({ item_id, price }) => [item_id, price])).toEqual([['large', 7], ['small', 4], ['large', 7]]);
    expect(tables.orders['#1']).toMatchObject({ status: 'pending (item modified)' });
    expect(tables.orders['#1']!.payment_history[1]).toEqual({ transaction_type: 'payment', amount: 3, payment_method_id: 'gift' });
    expect(balanceOf(tables)).toBe(2.5);
  });

  test('an exchange is requested, nothing is paid yet, and cents stay cents', () => {
    const { tables } = run('exchange_delivered_order_items', { order_id: '#2', item_ids: ['small', 'small'], new_item_ids: ['large', 'huge'], payment_method_id: 'card' });
    expect(tables.orders['#2']).toMatchObject({ status: 'exchange requested', exchange_items: ['small', 'small'], exchange_new_items: ['huge', 'large'], exchange_price_difference: 8.99 });
    expect(tables.users).toEqual(TABLES.users);
  });

  test.each(['card', 'gift'])('a return goes to the first payment or to a gift card: %s', (payment_method_id) => {
    const { tables } = run('return_delivered_order_items', { order_id: '#2', item_ids: ['large', 'small'], payment_method_id });
    expect(tables.orders['#2']).toMatchObject({ status: 'return requested', return_items: ['large', 'small'], return_payment_method_id: payment_method_id });
  });
});

const change = { order_id: '#1', item_ids: ['small'], new_item_ids: ['large'], payment_method_id: 'card' };
const back = { order_id: '#2', item_ids: ['small'], payment_method_id: 'card' };

describe('what cannot be done is an error, and the tables stay as they are', () => {
  test.each<[ToolError, string, JsonObject]>([
    ['retail/user-unknown', 'find_user_id_by_email', { email: 'bob@x.org' }],
    ['retail/user-unknown', 'find_user_id_by_name_zip', { first_name: 'Ann', last_name: 'Lee', zip: '0151' }],
    ['retail/user-unknown', 'get_user_details', { user_id: 'toString' }],
    ['retail/user-unknown', 'modify_user_address', { user_id: 'bob', ...WORK }],
    ['retail/order-unknown', 'get_order_details', { order_id: '1' }],
    ['retail/order-unknown', 'cancel_pending_order', { order_id: '', reason: 'no longer needed' }],
    ['retail/product-unknown', 'get_product_details', { product_id: 'small' }],
    ['retail/wrong-status', 'cancel_pending_order', { order_id: '#3', reason: 'no longer needed' }],
    ['retail/wrong-status', 'modify_pending_order_address', { order_id: '#2', ...WORK }],
    ['retail/wrong-status', 'return_delivered_order_items', { ...back, order_id: '#1' }],
    ['retail/same-payment-method', 'modify_pending_order_payment', { order_id: '#1', payment_method_id: 'gift' }],
    ['retail/balance-too-low', 'modify_pending_order_payment', { order_id: '#3', payment_method_id: 'gift' }],
    ['retail/payment-method-unknown', 'modify_pending_order_items', { ...change, payment_method_id: '' }],
    ['retail/balance-too-low', 'modify_pending_order_items', { ...change, new_item_ids: ['huge'], payment_method_id: 'gift' }],
    ['retail/item-unavailable', 'modify_pending_order_items', { ...change, new_item_ids: ['gone'] }],
    ['retail/item-unavailable', 'modify_pending_order_items', { ...change, new_item_ids: ['cup'] }],
    ['retail/unequal-counts', 'modify_pending_order_items', { ...change, new_item_ids: [] }],
    ['retail/item-unknown', 'modify_pending_order_items', { ...change, item_ids: ['huge'] }],
    ['retail/item-unknown', 'return_delivered_order_items', { ...back, item_ids: ['large', 'large'] }],
    ['retail/other-payment-method', 'return_delivered_order_items', { ...back, payment_method_id: 'paypal' }],
  ])('%s: %s', (code, name, args) => {
    expect(RETAIL_TOOLS.get(name)!(TABLES, args)).toEqual({ ok: false, error: code });
  });
});

test('every tool of the shop has a contract, and every contract a tool', () => {
  expect([...retailShop().contracts.keys()].sort()).toEqual([...RETAIL_TOOLS.keys()].sort());
});
