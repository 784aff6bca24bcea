/**
 * A shop that can be run: the retail tools of tau2-bench, written anew as pure functions from tables and arguments to tables and a result
 * (CHECKLIST I1, I2). No clock, no randomness, no network; the same calls give the same bytes. Arguments come from the validator, so their
 * types are those of the schema; what is wrong with them beyond that is a tool error, which changes nothing.
 * Reference: Barres et al. 2025 (tau2-bench), domain `retail`; what each tool does follows its description there.
 */
import { cloneJson, err, ok, type JsonObject, type JsonValue, type Result } from '@contractrl/core';

export interface Address extends JsonObject {
  readonly address1: string;
  readonly address2: string;
  readonly city: string;
  readonly country: string;
  readonly state: string;
  readonly zip: string;
}

interface PaymentMethod extends JsonObject {
  readonly source: 'credit_card' | 'paypal' | 'gift_card';
  readonly id: string;
}

interface User extends JsonObject {
  readonly user_id: string;
  readonly name: { readonly first_name: string; readonly last_name: string };
  readonly address: Address;
  readonly email: string;
  readonly payment_methods: Readonly<Record<string, PaymentMethod>>;
  readonly orders: readonly string[];
}

interface Item extends JsonObject {
  readonly product_id: string;
  readonly item_id: string;
  readonly price: number;
  readonly options: JsonObject;
}

interface Payment extends JsonObject {
  readonly transaction_type: 'payment' | 'refund';
  readonly amount: number;
  readonly payment_method_id: string;
}

interface Order extends JsonObject {
  readonly order_id: string;
  readonly user_id: string;
  readonly address: Address;
  readonly items: readonly Item[];
  readonly status: string;
  readonly payment_history: readonly Payment[];
}

interface Variant extends JsonObject {
  readonly item_id: string;
  readonly options: JsonObject;
  readonly available: boolean;
  readonly price: number;
}

interface Product extends JsonObject {
  readonly name: string;
  readonly product_id: string;
  readonly variants: Readonly<Record<string, Variant>>;
}

export interface RetailTables extends JsonObject {
  readonly users: Readonly<Record<string, User>>;
  readonly orders: Readonly<Record<string, Order>>;
  readonly products: Readonly<Record<string, Product>>;
}

export type ToolError = `retail/${string}`;
export interface Effect {
  readonly tables: RetailTables;
  readonly result: JsonValue;
}
export type RetailTool = (tables: RetailTables, args: JsonObject) => Result<Effect, ToolError>;

const PENDING = 'pending';
const PENDING_MODIFIED = 'pending (item modified)';
const DELIVERED = 'delivered';

const READS: Readonly<Record<string, RetailTool>> = {
  find_user_id_by_email: (tables, args) => {
    const email = text(args, 'email').toLowerCase();
    return read(tables, Object.values(tables.users).find((user) => user.email.toLowerCase() === email)?.user_id, 'retail/user-unknown');
  },
  find_user_id_by_name_zip: (tables, args) => {
    const [first, last, zip] = ['first_name', 'last_name', 'zip'].map((field) => text(args, field).toLowerCase());
    const found = Object.values(tables.users).find(({ name, address }) =>
      name.first_name.toLowerCase() === first && name.last_name.toLowerCase() === last && address.zip.toLowerCase() === zip);
    return read(tables, found?.user_id, 'retail/user-unknown');
  },
  get_user_details: (tables, args) => read(tables, own(tables.users, text(args, 'user_id')), 'retail/user-unknown'),
  get_order_details: (tables, args) => read(tables, own(tables.orders, text(args, 'order_id')), 'retail/order-unknown'),
  get_product_details: (tables, args) => read(tables, own(tables.products, text(args, 'product_id')), 'retail/product-unknown'),
};

const WRITES: Readonly<Record<string, RetailTool>> = {
  cancel_pending_order: (tables, args) => onOrder(tables, args, [PENDING], (order, user) => {
    const refunds = order.payment_history.map((payment): Payment => ({ ...payment, transaction_type: 'refund' }));
    const refunded = refunds.reduce((holder, { payment_method_id, amount }) => pay(holder, payment_method_id, -amount), user);
    return ok(put(tables, { ...order, status: 'cancelled', cancel_reason: text(args, 'reason'), payment_history: [...order.payment_history, ...refunds] }, refunded));
  }),

  modify_pending_order_address: (tables, args) => onOrder(tables, args, [PENDING, PENDING_MODIFIED], (order, user) => ok(put(tables, { ...order, address: addressOf(args) }, user))),

  modify_pending_order_payment: (tables, args) => onOrder(tables, args, [PENDING, PENDING_MODIFIED], (order, user) => {
    const method = text(args, 'payment_method_id');
    const [paid, ...others] = order.payment_history;
    if (paid === undefined || others.length > 0 || paid.transaction_type !== 'payment') return err('retail/several-payments');
    if (paid.payment_method_id === method) return err('retail/same-payment-method');
    const fault = paymentFault(user, method, paid.amount);
    if (fault !== undefined) return err(fault);
    const moved: readonly Payment[] = [
      { transaction_type: 'payment', amount: paid.amount, payment_method_id: method }, { transaction_type: 'refund', amount: paid.amount, payment_method_id: paid.payment_method_id },
    ];
    return ok(put(tables, { ...order, payment_history: [paid, ...moved] }, pay(pay(user, method, paid.amount), paid.payment_method_id, -paid.amount)));
  }),

  modify_pending_order_items: (tables, args) => onOrder(tables, args, [PENDING], (order, user) => {
    const exchange = exchangeOf(tables, order, args);
    if (!exchange.ok) return exchange;
    const { variants, difference } = exchange.value;
    const method = text(args, 'payment_method_id');
    const fault = paymentFault(user, method, difference);
    if (fault !== undefined) return err(fault);
    const wanted = texts(args, 'item_ids').map((id, index) => [id, variants[index] as Variant] as const);
    const items = order.items.map((item) => {
      const at = wanted.findIndex(([id]) => id === item.item_id);
      const [, variant] = at === -1 ? [] : wanted.splice(at, 1)[0] ?? [];
      return variant === undefined ? item : { ...item, item_id: variant.item_id, price: variant.price, options: variant.options };
    });
    const payment: Payment = { transaction_type: difference > 0 ? 'payment' : 'refund', amount: Math.abs(difference), payment_method_id: method };
    return ok(put(tables, { ...order, items, status: PENDING_MODIFIED, payment_history: [...order.payment_history, payment] }, pay(user, method, difference)));
  }),

  exchange_delivered_order_items: (tables, args) => onOrder(tables, args, [DELIVERED], (order, user) => {
    const exchange = exchangeOf(tables, order, args);
    if (!exchange.ok) return exchange;
    const { difference } = exchange.value;
    const method = text(args, 'payment_method_id');
    const fault = paymentFault(user, method, difference);
    if (fault !== undefined) return err(fault);
    return ok(put(tables, {
      ...order, status: 'exchange requested', exchange_items: texts(args, 'item_ids').toSorted(), exchange_new_items: texts(args, 'new_item_ids').toSorted(),
      exchange_payment_method_id: method, exchange_price_difference: difference,
    }, user));
  }),

  return_delivered_order_items: (tables, args) => onOrder(tables, args, [DELIVERED], (order, user) => {
    const method = text(args, 'payment_method_id');
    const fault = paymentFault(user, method, 0) ?? itemFault(order, texts(args, 'item_ids'));
    if (fault !== undefined) return err(fault);
    const isOriginal = order.payment_history[0]?.payment_method_id === method;
    if (!isOriginal && own(user.payment_methods, method)?.source !== 'gift_card') return err('retail/other-payment-method');
    return ok(put(tables, { ...order, status: 'return requested', return_items: texts(args, 'item_ids').toSorted(), return_payment_method_id: method }, user));
  }),

  modify_user_address: (tables, args) => {
    const user = own(tables.users, text(args, 'user_id'));
    if (user === undefined) return err('retail/user-unknown');
    const changed: User = { ...user, address: addressOf(args) };
    return ok({ tables: { ...tables, users: { ...tables.users, [changed.user_id]: changed } }, result: changed });
  },
};

/** By name. Those that read give back their tables as they got them. */
export const RETAIL_TOOLS: ReadonlyMap<string, RetailTool> = new Map([...Object.entries(READS), ...Object.entries(WRITES)]);

export function isWrite(tool: string): boolean {
  return Object.hasOwn(WRITES, tool);
}

function read(tables: RetailTables, result: JsonValue | undefined, code: ToolError): Result<Effect, ToolError> {
  return result === undefined ? err(code) : ok({ tables, result: cloneJson(result) });
}

/** Finds the order and its user; another status than `allowed` is an error. */
function onOrder(
  tables: RetailTables, args: JsonObject, allowed: readonly string[], change: (order: Order, user: User) => Result<Effect, ToolError>,
): Result<Effect, ToolError> {
  const order = own(tables.orders, text(args, 'order_id'));
  if (order === undefined) return err('retail/order-unknown');
  const user = own(tables.users, order.user_id);
  if (user === undefined) return err('retail/user-unknown');
  return allowed.includes(order.status) ? change(order, user) : err('retail/wrong-status');
}

function put(tables: RetailTables, order: Order, user: User): Effect {
  return { tables: { ...tables, orders: { ...tables.orders, [order.order_id]: order }, users: { ...tables.users, [user.user_id]: user } }, result: order };
}

/** New items for old ones of the same product, place by place, and what they cost more. */
function exchangeOf(tables: RetailTables, order: Order, args: JsonObject): Result<{ readonly variants: readonly Variant[]; readonly difference: number }, ToolError> {
  const [oldIds, newIds] = [texts(args, 'item_ids'), texts(args, 'new_item_ids')];
  if (oldIds.length !== newIds.length) return err('retail/unequal-counts');
  const fault = itemFault(order, oldIds);
  if (fault !== undefined) return err(fault);
  const old = oldIds.map((id) => order.items.find(({ item_id }) => item_id === id) as Item);
  const variants = newIds.map((id, index) => own(own(tables.products, (old[index] as Item).product_id)?.variants ?? {}, id));
  if (!variants.every((variant) => variant?.available === true)) return err('retail/item-unavailable');
  const cost = (items: readonly { readonly price: number }[]): number => items.reduce((sum, { price }) => sum + price, 0);
  return ok({ variants: variants as readonly Variant[], difference: toCents(cost(variants as readonly Variant[]) - cost(old)) });
}

/** Each id as often as the order has it. */
function itemFault({ items }: Order, ids: readonly string[]): ToolError | undefined {
  const isThere = ids.every((id) => ids.filter((other) => other === id).length <= items.filter(({ item_id }) => item_id === id).length);
  return isThere ? undefined : 'retail/item-unknown';
}

function paymentFault(user: User, method: string, amount: number): ToolError | undefined {
  const found = own(user.payment_methods, method);
  if (found === undefined) return 'retail/payment-method-unknown';
  return found.source === 'gift_card' && (found['balance'] as number) < amount ? 'retail/balance-too-low' : undefined;
}

/** Only gift cards keep a balance; a refund is a negative amount. */
function pay(user: User, method: string, amount: number): User {
  const found = own(user.payment_methods, method);
  if (found?.source !== 'gift_card') return user;
  return { ...user, payment_methods: { ...user.payment_methods, [method]: { ...found, balance: toCents((found['balance'] as number) - amount) } } };
}

function toCents(amount: number): number {
  return Math.round(amount * 100) / 100;
}

function addressOf(args: JsonObject): Address {
  const [address1, address2, city, state, country, zip] = ['address1', 'address2', 'city', 'state', 'country', 'zip'].map((field) => text(args, field)) as [string, string, string, string, string, string];
  return { address1, address2, city, country, state, zip };
}

function text(args: JsonObject, field: string): string {
  return args[field] as string;
}

function texts(args: JsonObject, field: string): readonly string[] {
  return args[field] as readonly string[];
}

function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
