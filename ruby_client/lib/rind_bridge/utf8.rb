# frozen_string_literal: true

module RindBridge
  # Any Ruby text as valid UTF-8, because that is what a JSON frame and the panel can hold.
  module Utf8
    REPLACEMENT = "\uFFFD"
    # Encodings that say nothing about what the bytes mean: pipes and sockets give ASCII-8BIT, a locale of C US-ASCII.
    UNTOLD = [Encoding::ASCII_8BIT, Encoding::US_ASCII].freeze

    # Takes a String in any encoding; returns it in valid UTF-8, the same object when it is that already.
    # What no character stands for becomes U+FFFD. Never raises.
    def self.of(text)
      return text if text.encoding == Encoding::UTF_8 && text.valid_encoding?
      return text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace, replace: REPLACEMENT) unless
        text.encoding == Encoding::UTF_8 || UNTOLD.include?(text.encoding)

      String.new(text, encoding: Encoding::UTF_8).scrub(REPLACEMENT)
    rescue EncodingError
      # Ruby has no converter for this encoding (Emacs-Mule, UTF-7): its bytes are all there is.
      String.new(text, encoding: Encoding::UTF_8).scrub(REPLACEMENT)
    end
  end
end
