"""Coverage: the rules that the events of an explained history show.

The model's answer names the rules that decided it. Other rules are shown by what an answer implies:
a delivery, that nothing kept the message away; an empty receive, that what must not come did not.
Each module observes the model's rules of one family (subclasses that call the rule and note what
passes) and says which rules an answer shows. It never decides what is allowed.
"""
