/** A request whose words are of another language: fields by their label, values as they are. The value is then found by what stands beside it, in whichever language that is. */
import type { Random } from '../../random.ts';
import type { Said } from './field.ts';

const LANGUAGES = [
  { opening: 'Por favor, necesito ayuda con esto', colon: ': ' }, { opening: 'Bitte einmal erledigen', colon: ': ' }, { opening: 'Bonjour, pouvez-vous vous occuper de ceci', colon: ' : ' },
  { opening: 'Olá, preciso disto o quanto antes', colon: ': ' }, { opening: '请帮我办理', colon: '：' },
] as const;

/** By a word of the field's name, in the order of the languages. */
const LABELS: Readonly<Record<string, readonly string[]>> = {
  account: ['cuenta', 'Konto', 'compte', 'conta', '账户'], amount: ['importe', 'Betrag', 'montant', 'valor', '金额'], budget: ['presupuesto', 'Budget', 'budget', 'orçamento', '预算'],
  city: ['ciudad', 'Stadt', 'ville', 'cidade', '城市'], country: ['país', 'Land', 'pays', 'país', '国家'], date: ['fecha', 'Datum', 'date', 'data', '日期'], day: ['día', 'Tag', 'jour', 'dia', '日期'],
  duration: ['duración', 'Dauer', 'durée', 'duração', '时长'], email: ['correo electrónico', 'E-Mail', 'e-mail', 'e-mail', '电子邮件'], guests: ['huéspedes', 'Gäste', 'invités', 'hóspedes', '客人'],
  invoice: ['factura', 'Rechnung', 'facture', 'fatura', '发票'], item: ['artículo', 'Artikel', 'article', 'artigo', '商品'], location: ['lugar', 'Ort', 'lieu', 'local', '地点'],
  member: ['socio', 'Mitglied', 'membre', 'sócio', '会员'], month: ['mes', 'Monat', 'mois', 'mês', '月份'], name: ['nombre', 'Name', 'nom', 'nome', '姓名'], order: ['pedido', 'Bestellung', 'commande', 'pedido', '订单'],
  phone: ['teléfono', 'Telefon', 'téléphone', 'telefone', '电话'], place: ['lugar', 'Ort', 'lieu', 'local', '地点'], price: ['precio', 'Preis', 'prix', 'preço', '价格'],
  quantity: ['cantidad', 'Anzahl', 'quantité', 'quantidade', '数量'], room: ['sala', 'Raum', 'salle', 'sala', '房间'], seats: ['asientos', 'Plätze', 'places', 'lugares', '座位'],
  ticket: ['billete', 'Fahrkarte', 'billet', 'bilhete', '票号'], time: ['hora', 'Uhrzeit', 'heure', 'hora', '时间'], title: ['título', 'Titel', 'titre', 'título', '标题'], weight: ['peso', 'Gewicht', 'poids', 'peso', '重量'],
};

/** Undefined where no value has a label; what has none is said in English. */
export function inAnotherLanguage(action: string, said: readonly Said[], draw: Random): string | undefined {
  const language = draw.whole(LANGUAGES.length);
  const { opening, colon } = LANGUAGES[language]!;
  const labels = new Set<string>();
  const lines = said.map(({ clause, mentions = {} }) => {
    const [[name, words] = ['', ''], ...others] = Object.entries(mentions);
    const label = LABELS[name.split('_').find((word) => Object.hasOwn(LABELS, word)) ?? '']?.[language];
    if (label === undefined || others.length > 0 || labels.has(label)) return clause;
    labels.add(label);
    return `${label}${colon}${words}`;
  });
  return labels.size === 0 ? undefined : `${opening} (${action})${draw.pick(['\n', '. '])}${lines.join(draw.pick(['\n', '; ']))}`;
}
