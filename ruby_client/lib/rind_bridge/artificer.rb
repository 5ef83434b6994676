# frozen_string_literal: true

module RindBridge
  # What takes the place of Artificer.ui_preview, and of nothing else.
  module Artificer
    # The original's signature and arity.
    def ui_preview(result, limit = Echo::LIMIT, name: nil)
      RindBridge.ui_preview(result, limit, name: name)
    end
  end

  # Puts the bridge before +artificer+'s own ui_preview (a module or class with singleton methods, or any
  # object). Doing it again changes nothing.
  def self.install(artificer)
    artificer.singleton_class.prepend(Artificer)
    artificer
  end
end
