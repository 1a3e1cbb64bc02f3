"""Second act: the user asks why it is done so, the agent answers with numbers and asks something back."""
from .conversation import Conversation
from .tools import search_files, terminal


def play(talk: Conversation) -> None:
    """Play the act."""
    talk.user(
        "Thanks, numbers match. Two questions before I read the diff: why not simply `round(amount * 100)` "
        "instead of all the Decimal business? And what happens with credit notes, where the amount is "
        "negative?",
        after_minutes=9,
    )
    talk.agent(
        "Let me answer with numbers instead of from memory.",
        terminal("python - <<'END'\n"
                 "from decimal import Decimal\n"
                 "from tallybook.money import to_cents, exact\n"
                 "wrong = [(n, p) for n in range(1, 200) for p in range(5, 3000, 10)\n"
                 "         if round(n * (p / 1000) * 100) != to_cents(n * exact(p / 1000))]\n"
                 "print(len(wrong), 'of', 199 * 300, 'products differ; first:', wrong[:3])\n"
                 "print('negative:', to_cents(-2.675), to_cents(Decimal('-0.005')), round(-2.675 * 100), "
                 "round(-0.5))\n"
                 "END"),
        search_files("is_credit_note|quantity may be negative", ".", "*.py"),
        terminal("grep -n -- ',-[0-9]' data/june.csv"),
    )
    talk.agent(
        "1. `round(amount * 100)` repairs 19.99, but not the half cents: prices with three places (the "
        "beads at 1.005) times a quantity land on exact halves all the time, and there `round` picks the "
        "even cent or follows the binary error. Of 59,700 products of quantity and price it disagrees with "
        "decimal arithmetic in 14,992.\n"
        "2. Credit notes: ROUND_HALF_UP in `decimal` means away from zero, so -2.675 becomes -2.68, and a "
        "credit note is always the mirror image of its invoice. June has one such line, INV-2025-994.\n\n"
        "A question back: is away from zero what bookkeeping wants for credit notes, or do they round "
        "towards plus infinity (-2.675 to -2.67)? It is one constant, but I'd like it confirmed before it "
        "goes out.",
    )
